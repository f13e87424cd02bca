import Synchronization

#if canImport(Glibc)
// The compiler counts Glibc's `stat` as a member of this module, where Foundation was imported first.
import CoreFoundation
import Glibc
#else
import Darwin
#endif

/// Standard output and standard error of the command line. Output that is lost is never a success.
enum StandardOutput {
    /// The first failure, for commands that could not end at once.
    private static let failure = Mutex<CommandFailure?>(nil)
    private static let readerIsGone = Mutex(false)

    /// Whether the reader of the pipe has closed it. That is no failure: `head` has enough.
    static var isUnread: Bool { readerIsGone.withLock { $0 } }

    /// Writes data to standard output, to the end. A reader that has closed the pipe is not a failure.
    ///
    /// - Throws: ``CommandFailure`` with code `failed` if it cannot be written, for example because the disk is full.
    static func write(_ bytes: [UInt8]) throws {
        switch put(bytes, STDOUT_FILENO) {
        case 0: return
        case EPIPE: readerIsGone.withLock { $0 = true }
        case let number: throw failed(number)
        }
    }

    /// Writes a text that is shown only once: a closed pipe is a failure too, and a file is on the disk afterwards.
    ///
    /// - Throws: ``CommandFailure`` with code `failed`.
    static func writeOnce(_ bytes: [UInt8]) throws {
        var number = put(bytes, STDOUT_FILENO)
        if number == 0, fsync(STDOUT_FILENO) != 0, [EIO, ENOSPC, EDQUOT].contains(errno) { number = errno }
        if number != 0 { throw failed(number) }
    }

    /// Checks that standard output can take more, before something is requested that cannot be taken back.
    ///
    /// - Throws: ``CommandFailure`` with code `failed`.
    static func requireRoom(for bytes: Int) throws {
        // A device that is full refuses even nothing.
        if systemWrite(STDOUT_FILENO, nil, 0) < 0 {
            let number = errno
            if [ENOSPC, EBADF, EIO, EPIPE].contains(number) { throw failed(number) }
        }
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFIFO, S_IFSOCK:
            // A pipe without a reader takes a write of nothing.
            var end = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
            if poll(&end, 1, 0) > 0, Int32(end.revents) & Int32(POLLERR | POLLHUP | POLLNVAL) != 0 {
                throw failed(EPIPE)
            }
        case S_IFREG: try requireSpace(for: bytes, status)
        default: break
        }
    }

    /// Checks the limit of the process (`ulimit -f`), and the space of the disk.
    private static func requireSpace(for bytes: Int, _ status: stat) throws {
        let isAppended = fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND != 0
        let start = isAppended ? status.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR)
        var limit = rlimit()
        #if canImport(Glibc)
        let isLimited = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
        #else
        let isLimited = getrlimit(RLIMIT_FSIZE, &limit) == 0
        #endif
        if isLimited, UInt64(max(0, start)) + UInt64(bytes) > UInt64(limit.rlim_cur) { throw failed(EFBIG) }
        var disk = statvfs()
        guard fstatvfs(STDOUT_FILENO, &disk) == 0, disk.f_blocks > 0 else { return }
        let needed = UInt64(bytes) / max(1, UInt64(disk.f_frsize)) + 1
        if UInt64(disk.f_bavail) < needed { throw failed(ENOSPC) }
    }

    /// Throws the first failure of this run, if any write has failed.
    static func requireWritten() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Writes a message to standard error. If this fails, the error cannot be reported.
    static func message(_ text: String) { _ = put(Array(text.utf8), STDERR_FILENO) }

    /// The failure if nothing can be written to standard output at all.
    ///
    /// - Parameter isClosed: whether the descriptor was closed at the start.
    static func unusable(isClosed: Bool) -> CommandFailure? {
        let flags = fcntl(STDOUT_FILENO, F_GETFL)
        guard isClosed || flags >= 0 && flags & O_ACCMODE == O_RDONLY else { return nil }
        return CommandFailure(
            .failed, "Standard output is \(isClosed ? "closed" : "not open for writing"). Nothing was done.")
    }

    private static func failed(_ number: Int32) -> CommandFailure {
        let reason = number == EPIPE ? "its reader has closed it" : String(cString: strerror(number)).lowercased()
        let failure = CommandFailure(.failed, "Standard output cannot be written: \(reason).")
        self.failure.withLock { if $0 == nil { $0 = failure } }
        return failure
    }

    /// - Returns: 0, or the value of `errno`.
    private static func put(_ bytes: [UInt8], _ descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN || errno == EWOULDBLOCK {
                    // Another program has made the pipe or the terminal non-blocking, for all who share it.
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, 1000)
                    if Task.isCancelled { return EAGAIN }
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, base, count)
}
