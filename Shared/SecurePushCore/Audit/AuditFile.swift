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
public final class AuditFile: Sendable {
    fileprivate struct State {
        var descriptor: Int32 = -1
        /// The hash of the last line, and the size of the file after it. Another size is the work of another process.
        var last = AuditHash.none
        /// -1 before the first reading.
        var size: Int64 = -1
    }

    /// The path; `-` is standard output.
    public let path: String
    /// The descriptor that lines go to if it is no file.
    private let stream: Int32?
    private let state = Mutex(State())

    /// How long another process may hold the lock.
    private static let patience = Duration.seconds(5)
    /// Far above the longest line.
    private static let maxLine: Int64 = 65_536

    /// Opens the file, or creates it for its owner only.
    ///
    /// - Parameter path: in a folder that exists; `-` is standard output, where each process begins a new chain.
    /// - Throws: ``FileError`` if it cannot be written, or has something else in it.
    public convenience init(path: String) throws(FileError) {
        self.init(path: path, stream: path == "-" ? STDOUT_FILENO : nil)
        try append([])
    }

    private init(path: String, stream: Int32?) { (self.path, self.stream) = (path, stream) }

    /// Standard error, with a chain of its own.
    public static func standardError() -> AuditFile { AuditFile(path: "-", stream: STDERR_FILENO) }

    deinit { state.withLock { $0.close() } }

    /// Appends lines. When this returns, they are on the disk (`fdatasync(2)`).
    ///
    /// - Throws: ``FileError`` if they could not be written. None of them is in the file then.
    public func append(_ entries: [AuditEntry]) throws(FileError) {
        try state.withLock { (state) throws(FileError) in
            if let stream {
                guard write(chain(entries, from: &state.last), to: stream) else { throw failure(errno) }
                return
            }
            try lock(&state)
            defer { flock(state.descriptor, LOCK_UN) }
            let size = try size(of: state.descriptor)
            if size != state.size { try readLast(&state, size: size) }
            guard !entries.isEmpty else { return }
            var last = state.last
            let bytes = chain(entries, from: &last)
            guard write(bytes, to: state.descriptor), synchronize(state.descriptor) == 0 else {
                let number = errno
                // A part of a line would hide the next one. If this fails too, the next process completes the line.
                _ = ftruncate(state.descriptor, off_t(state.size))
                throw failure(number)
            }
            (state.last, state.size) = (last, state.size + Int64(bytes.count))
        }
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
            if flock(state.descriptor, LOCK_EX | LOCK_NB) == 0 {
                if isCurrent(state.descriptor) { return }
                // The file was renamed. Whoever writes to it after this has seen that too.
                defer { state.close() }
                try readLast(&state, size: size(of: state.descriptor))
                // A new file goes on with the chain of the old one.
                state.size = 0
                continue
            }
            let number = errno
            guard number == EWOULDBLOCK || number == EINTR else { throw failure(number) }
            usleep(1000)
        }
        throw FileError(.unreadable, path: path, "The audit log has been locked by another process for 5 s.")
    }

    private func open(_ state: inout State) throws(FileError) {
        state.descriptor = openForAppending(path)
        guard state.descriptor >= 0 else { throw failure(errno) }
        var status = stat()
        guard fstat(state.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            state.close()
            throw FileError(.malformed, path: path, "The audit log must be a regular file.")
        }
    }

    /// Whether the path still names this file.
    private func isCurrent(_ descriptor: Int32) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev
            && opened.st_ino == named.st_ino
    }

    private func size(of descriptor: Int32) throws(FileError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        return Int64(status.st_size)
    }

    /// Reads the hash of the last line. A line that a process did not complete before it ended gets its line feed, so
    /// that nothing that was written is ever removed.
    private func readLast(_ state: inout State, size: Int64) throws(FileError) {
        guard size > 0 else {
            let last = RotatedFiles.newest(of: path).flatMap { try? lastHash(of: $0) }
            return (state.last, state.size) = (last ?? .none, 0)
        }
        let start = try bytes(of: state.descriptor, from: 0, count: min(size, Int64(AuditEntry.beginning.count)))
        guard AuditEntry.beginning.starts(with: start) else {
            throw FileError(.malformed, path: path, "The file has something else in it. Name a new file.")
        }
        let offset = max(0, size - Self.maxLine)
        var tail = try bytes(of: state.descriptor, from: offset, count: size - offset)
        state.size = size
        if tail.last == UInt8(ascii: "\n") {
            tail.removeLast()
        } else {
            guard write([UInt8(ascii: "\n")], to: state.descriptor) else { throw failure(errno) }
            state.size += 1
        }
        let feed = tail.lastIndex(of: UInt8(ascii: "\n"))
        guard feed != nil || offset == 0 else {
            throw FileError(.malformed, path: path, "The last line is longer than 64 KiB. Name a new file.")
        }
        state.last = AuditHash(of: tail[(feed.map { $0 + 1 } ?? 0)...])
    }

    /// The hash of the last line of a file that was rotated.
    private func lastHash(of path: String) throws(FileError) -> AuditHash {
        var old = State()
        old.descriptor = openForReading(path)
        guard old.descriptor >= 0 else { throw failure(errno) }
        defer { old.close() }
        try readLast(&old, size: max(1, size(of: old.descriptor)))
        return old.last
    }

    private func bytes(of descriptor: Int32, from offset: Int64, count: Int64) throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let read = pread(descriptor, &bytes, bytes.count, off_t(offset))
        guard read == bytes.count else { throw failure(read < 0 ? errno : EIO) }
        return bytes
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { writeChunk(descriptor, $0) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    private func failure(_ number: Int32) -> FileError {
        switch number {
        case ENOENT, ENOTDIR:
            FileError(.missing, path: path, "The folder of the audit log does not exist. Create it.")
        case EACCES, EPERM:
            FileError(
                .unreadable, path: path,
                "This process has no permission to read and write the audit log. Give its user both.")
        case EISDIR: FileError(.malformed, path: path, "This is a folder. Name a file in it.")
        case ENOSPC, EDQUOT: FileError(.unreadable, path: path, "There is no space left for the audit log.")
        default:
            FileError(
                .unreadable, path: path, "The audit log cannot be written: \(String(cString: strerror(number))).")
        }
    }
}

extension AuditFile.State {
    fileprivate mutating func close() {
        if descriptor >= 0 { closeDescriptor(descriptor) }
        descriptor = -1
    }
}

// The system's functions, outside of the type whose methods have the same names.

private func openForAppending(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
}

private func openForReading(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }

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
