#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A pipe by which other threads end a `poll`.
final class WakeUp: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// - Throws: ``ThreadResourceError`` if the process or the machine has no file descriptors left.
    init() throws(ThreadResourceError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ThreadResourceError("cannot open a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the current wait, or the next one. A full pipe ends it too, so a failed write is no loss.
    func signal() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }

    /// Waits for a signal, for the descriptor, or until the time has passed; -1 waits without limit.
    func wait(interest: ThreadExecutor.Interest, milliseconds: Int32) -> (readable: Bool, writable: Bool) {
        var descriptors = [pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)]
        if let descriptor = interest.descriptor {
            let events = interest.untilWritable ? POLLIN | POLLOUT : POLLIN
            descriptors.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
        }
        guard poll(&descriptors, nfds_t(descriptors.count), milliseconds) > 0 else { return (false, false) }
        if descriptors[0].revents != 0 { drain() }
        guard descriptors.count > 1 else { return (false, false) }
        let events = Int32(descriptors[1].revents)
        // Reading reports an error or a hang-up.
        return (events & (POLLIN | POLLERR | POLLHUP) != 0, events & POLLOUT != 0)
    }

    private func drain() {
        var buffer: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let size = MemoryLayout.size(ofValue: buffer)
        // A buffer that was not filled has emptied the pipe.
        while read(readEnd, &buffer, size) == size {}
    }
}
