import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file, or standard output, that lines of the audit log are appended to.
///
/// Several processes may write to one file: each holds the lock of the file (`flock(2)`) while it reads the hash of the
/// last line and appends. A file that was renamed (logrotate) is left, and the new one goes on with its chain, even if
/// the process has just started and the old file is in the same folder, such as `audit.log.1` or `audit.log-20261123`.
/// Calls block for the disk, so services make them on a thread of their own.
///
/// Decision: docs/decisions/0021-audit-lines-before-the-answer.md
package final class AuditFile: Sendable {
    fileprivate struct State {
        var descriptor: Int32 = -1
        /// The folder of the open file.
        var folder: SafeFolder?
        /// The hash of the last line, and the size of the file after it. Another size is the work of another process.
        var last = AuditHash.none
        /// -1 before the first reading.
        var size: Int64 = -1
        /// The file that was renamed while this process had it open.
        var left: stat?
        /// Whether standard output ends in the middle of a line, because a write has failed.
        var isBroken = false
    }

    /// The path; `-` is standard output.
    package let path: String
    private let place: (folder: String, name: String)
    /// The descriptor that lines go to if it is no file.
    private let stream: Int32?
    /// How long a stream that does not block may take no bytes.
    private let streamPatience: Duration
    private let state = Mutex(State())

    /// How long another process may hold the lock.
    private static let patience = Duration.seconds(5)
    /// Far above the longest line.
    private static let maxLine: Int64 = 65_536

    /// Opens the file, or creates it for its owner only. The file is not a link, and root follows none on the way that
    /// another user can have made (``SafeFolder``).
    ///
    /// - Parameter path: in a folder that exists; `-` is standard output, where each process begins a new chain.
    /// - Throws: ``FileError`` if it cannot be written, or has something else in it.
    package convenience init(path: String) throws(FileError) {
        self.init(path: path, stream: path == "-" ? STDOUT_FILENO : nil)
        try append([])
    }

    /// - Parameters:
    ///   - stream: the descriptor to write to in place of a file.
    ///   - streamPatience: how long it may take no bytes, if it does not block.
    init(path: String, stream: Int32?, streamPatience: Duration = AuditFile.patience) {
        (self.path, self.stream, self.streamPatience) = (path, stream, streamPatience)
        place = SafeFolder.split(path)
    }

    /// Standard error, with a chain of its own.
    package static func standardError() -> AuditFile { AuditFile(path: "-", stream: STDERR_FILENO) }

    deinit { state.withLock { $0.close() } }

    /// Appends lines. When this returns, they are on the disk (`fdatasync(2)`).
    ///
    /// - Throws: ``FileError`` if they could not be written. None of them is in the file then.
    package func append(_ entries: [AuditEntry]) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            if let stream { return try append(entries, to: stream, &state) }
            try lock(&state)
            defer { flock(state.descriptor, LOCK_UN) }
            let size = try size(of: state.descriptor)
            if size != state.size { try readLast(&state, size: size) }
            guard !entries.isEmpty else { return }
            var last = state.last
            let bytes = chain(entries, from: &last)
            guard write(bytes, to: state.descriptor) == bytes.count, synchronize(state.descriptor) == 0 else {
                let number = errno
                // A part of a line would hide the next one. If this fails too, the next process completes the line.
                _ = ftruncate(state.descriptor, off_t(state.size))
                throw failure(number)
            }
            (state.last, state.size) = (last, state.size + Int64(bytes.count))
        }
    }

    /// Appends lines to standard output, from which nothing can be taken back. Lines of which a part was written when
    /// the write failed are part of the chain, and are written again.
    private func append(
        _ entries: [AuditEntry], to stream: Int32, _ state: inout State
    ) throws(FileError) {
        let beginning: [UInt8] = state.isBroken ? [UInt8(ascii: "\n")] : []
        var last = state.last
        let bytes = beginning + chain(entries, from: &last)
        let count = write(bytes, to: stream)
        guard count < bytes.count else { return (state.last, state.isBroken) = (last, false) }
        let number = errno
        let lines = bytes[..<count].dropFirst(beginning.count)
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
        if count > 0 { state.isBroken = bytes[count - 1] != UInt8(ascii: "\n") }
        if let end = lines.last { state.last = AuditHash(of: end) }
        throw failure(number)
    }

    /// The lines, each with the hash of the one before.
    private func chain(_ entries: [AuditEntry], from last: inout AuditHash) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            let line = entry.line(after: last)
            last = AuditHash(of: line)
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    // MARK: The file

    /// Opens the file of the path and takes its lock.
    private func lock(_ state: inout State) throws(FileError) {
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            if state.descriptor < 0 { try open(&state) }
            // The file was renamed after it could not be made.
            if state.descriptor < 0 { continue }
            if flock(state.descriptor, LOCK_EX | LOCK_NB) == 0 {
                if isCurrent(&state) { return }
                // The file was renamed. Whoever writes to it after this has seen that too. A new file goes on with the
                // chain of the old one, or with that of a younger one if the log was renamed again since.
                defer { state.close() }
                let status = try status(of: state.descriptor)
                try readLast(&state, size: Int64(status.st_size))
                (state.size, state.left) = (-1, status)
                continue
            }
            let number = errno
            guard number == EWOULDBLOCK || number == EINTR else { throw failure(number) }
            usleep(1000)
        }
        throw locked
    }

    private var locked: FileError {
        FileError(.unreadable, path: path, "The audit log has been locked by another process for 5 s.")
    }

    private func open(_ state: inout State) throws(FileError) {
        let folder = try SafeFolder(path: place.folder)
        if let file = try folder.create(place.name, O_RDWR | O_APPEND, mode: 0o600) {
            (state.descriptor, state.folder) = (file, folder)
            // An operator's command, run as root, may be the first to write after a rotation. The service must be able
            // to write to this file too. It owns the folder. A file that was there before is not given away.
            guard geteuid() == 0, folder.owner.user != 0 else { return }
            guard fchown(file, folder.owner.user, folder.owner.group) == 0 else { throw failure(errno) }
        } else if let file = try folder.open(place.name, O_RDWR | O_APPEND) {
            (state.descriptor, state.folder) = (file, folder)
        }
    }

    /// Whether the path still names the open file. The way there is only gone if something has changed: it needs
    /// descriptors, and a service that has none left must be able to write on.
    private func isCurrent(_ state: inout State) -> Bool {
        guard let opened = try? status(of: state.descriptor) else { return false }
        func names(_ folder: SafeFolder) -> Bool {
            guard let named = folder.status(of: place.name) else { return false }
            return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
        }
        if let folder = state.folder, names(folder), folder.isAt(place.folder) { return true }
        guard let folder = try? SafeFolder(path: place.folder), names(folder) else { return false }
        state.folder = folder
        return true
    }

    private func size(of descriptor: Int32) throws(FileError) -> Int64 { try Int64(status(of: descriptor).st_size) }

    private func status(of descriptor: Int32) throws(FileError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        return status
    }

    /// Reads the hash of the last line. A line that a process did not complete before it ended gets its line feed, so
    /// that nothing that was written is ever removed.
    private func readLast(_ state: inout State, size: Int64) throws(FileError) {
        guard size > 0 else {
            // If the file of this process is the youngest that was renamed, its hash is known.
            let folder = try SafeFolder(path: place.folder)
            if let old = RotatedFiles.newest(of: place.name, in: folder, since: state.left),
                let hash = try lastHash(of: old, in: folder)
            {
                state.last = hash
            } else if state.left == nil {
                state.last = .none
            }
            return state.size = 0
        }
        let start = try bytes(of: state.descriptor, from: 0, count: min(size, Int64(AuditEntry.beginning.count)))
        guard AuditEntry.beginning.starts(with: start) else {
            throw FileError(.malformed, path: path, "The file has something else in it. Name a new file.")
        }
        let line = try lastLine(of: state.descriptor, size: size)
        if !line.isComplete {
            guard write([UInt8(ascii: "\n")], to: state.descriptor) == 1 else { throw failure(errno) }
        }
        (state.last, state.size) = (line.hash, line.isComplete ? size : size + 1)
    }

    private func lastLine(
        of descriptor: Int32, size: Int64
    ) throws(FileError) -> (hash: AuditHash, isComplete: Bool) {
        let offset = max(0, size - Self.maxLine)
        var tail = try bytes(of: descriptor, from: offset, count: size - offset)
        let isComplete = tail.last == UInt8(ascii: "\n")
        if isComplete { tail.removeLast() }
        let feed = tail.lastIndex(of: UInt8(ascii: "\n"))
        guard feed != nil || offset == 0 else {
            throw FileError(.malformed, path: path, "The last line is longer than 64 KiB. Name a new file.")
        }
        return (AuditHash(of: tail[(feed.map { $0 + 1 } ?? 0)...]), isComplete)
    }

    /// The hash of the last line of a file that was rotated, once no process writes to it any more; `nil` if it cannot
    /// be read.
    private func lastHash(of name: String, in folder: SafeFolder) throws(FileError) -> AuditHash? {
        guard let descriptor = try? folder.open(name, O_RDONLY) else { return nil }
        defer { closeDescriptor(descriptor) }
        let end = ContinuousClock.now + Self.patience
        while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure(errno) }
            guard ContinuousClock.now < end else { throw locked }
            usleep(1000)
        }
        return try lastLine(of: descriptor, size: size(of: descriptor)).hash
    }

    private func bytes(of descriptor: Int32, from offset: Int64, count: Int64) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let read = pread(descriptor, &bytes, bytes.count, off_t(offset))
        guard read == bytes.count else { throw failure(read < 0 ? errno : EIO) }
        return bytes
    }

    /// - Returns: how many bytes were written; fewer than there are after a failure, which `errno` tells.
    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
        var rest = bytes[...]
        var end = ContinuousClock.now + streamPatience
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeChunk(descriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
                end = .now + streamPatience
            } else if errno == EAGAIN, ContinuousClock.now < end {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&wait, 1, 10) != 0 { usleep(1000) }
                errno = EAGAIN
            } else if errno != EINTR {
                break
            }
        }
        return bytes.count - rest.count
    }

    private func failure(_ number: Int32) -> FileError {
        guard number == EAGAIN else { return FileError(errno: number, path: path) }
        return FileError(.unreadable, path: path, "The reader of the audit log takes no lines.")
    }
}

extension AuditFile.State {
    fileprivate mutating func close() {
        if descriptor >= 0 { closeDescriptor(descriptor) }
        (descriptor, folder) = (-1, nil)
    }
}

// The system's functions, outside of the type whose methods have the same names.

private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

private func writeChunk(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

private func synchronize(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
    fdatasync(descriptor)
    #else
    fsync(descriptor)
    #endif
}
