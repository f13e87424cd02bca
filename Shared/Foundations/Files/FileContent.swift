#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The whole text of a small file: the only way in which SecurePush reads lists, settings, keys and credentials.
package struct FileContent: Sendable {
    /// The text of the file, without a byte order mark at its beginning.
    package let text: String
    /// The version of exactly the file that was read.
    let signature: FileSignature

    /// The default for the maximum size in bytes. A larger file is a device or a log that was named by mistake.
    package static let maxBytes = 64 << 20

    /// Reads a file to its end, in `/proc` too, where files have the size 0.
    ///
    /// - Parameters:
    ///   - path: absolute or relative to the working folder; links are followed.
    ///   - maxBytes: the maximum size.
    /// - Throws: ``FileError``: `missing` if there is no file, `unreadable` if it is a folder, too large or not allowed
    ///   to be read, `malformed` if it is not UTF-8.
    package init(path: String, maxBytes: Int = FileContent.maxBytes) throws(FileError) {
        let descriptor = try FileContent.open(path)
        defer { close(descriptor) }
        try self.init(descriptor: descriptor, path: path, maxBytes: maxBytes)
    }

    /// Opens a file to read it. Waits for the writer of a named pipe; but root does not wait for the pipe of another
    /// user, who may have put it there to hold a command of root.
    ///
    /// - Returns: a descriptor, which the caller closes.
    package static func open(_ path: String) throws(FileError) -> Int32 {
        var status = stat()
        let isRegular = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        // O_NONBLOCK: the file may have been replaced by a pipe just now. Root checks the type of the opened file
        // first.
        let isRoot = geteuid() == 0
        let descriptor = openToRead(path, isRegular || isRoot ? O_NONBLOCK : 0)
        guard descriptor >= 0 else { throw FileError(readingFailedWith: errno, path: path) }
        guard isRoot, fstat(descriptor, &status) == 0 else { return descriptor }
        if status.st_mode & S_IFMT == S_IFIFO {
            guard status.st_uid == 0 else {
                close(descriptor)
                throw FileError(.unreadable, path: path, "The file is a pipe of another user. Name a regular file.")
            }
            // Before the first writer comes, a read would be the end.
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&wait, 1, -1) < 0, errno == EINTR {}
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
    }

    /// Reads an open file to its end, and again if it was written meanwhile: a program that does not replace the file,
    /// but writes into it, leaves half a text for a moment. A file that never rests is taken as it is.
    ///
    /// - Parameter afterReading: called with the number of each reading that may not be the last; for tests.
    init(
        descriptor: Int32, path: String, maxBytes: Int = FileContent.maxBytes, afterReading: (Int) -> Void = { _ in }
    ) throws(FileError) {
        var reading = try FileContent.read(descriptor, path: path, maxBytes: maxBytes)
        for attempt in 1..<FileContent.maxReadings {
            afterReading(attempt)
            // Files of the kernel and pipes have no size.
            guard let signature = FileSignature(descriptor: descriptor), signature != reading.signature,
                max(signature.size, reading.signature.size) > 0
            else { break }
            usleep(FileContent.pause)
            guard lseek(descriptor, 0, SEEK_SET) == 0 else { break }
            reading = try FileContent.read(descriptor, path: path, maxBytes: maxBytes)
        }
        signature = reading.signature
        guard let text = String(validating: reading.bytes, as: UTF8.self) else {
            throw FileError(.malformed, path: path, "The file is not UTF-8 text. Save it as UTF-8.")
        }
        self.text = OutsideText.withoutMark(text)
    }

    /// The permission bits (`0o600`).
    package var permissions: UInt32 { signature.mode & 0o7777 }

    /// Why a file of secrets is not private; `nil` if only its owner can access it.
    ///
    /// A group may read a file of root: so Kubernetes hands secrets to a user who is not root.
    package var privacyProblem: String? { signature.privacyProblem }

    /// ``privacyProblem`` of a file that is not read; `nil` too if there is none.
    package static func privacyProblem(ofFile path: String) -> String? { FileSignature(path: path)?.privacyProblem }

    /// The version of the file that was read.
    ///
    /// - Parameter path: as it was read.
    package func version(_ path: String) -> FileVersion { FileVersion(path: path, signature: signature) }

    /// The text without the blanks and line ends at its beginning and its end.
    package var trimmedText: String { OutsideText.trimmed(text) }

    /// The text without the blanks and line ends at its end: a password may begin with a blank.
    package var textWithoutEnd: String { OutsideText.trimmedEnd(text) }

    private static let maxReadings = 20
    /// Between two readings, in microseconds.
    private static let pause: UInt32 = 5000

    /// The signature is that of the file before it was read: a later change makes another one.
    private static func read(
        _ descriptor: Int32, path: String, maxBytes: Int
    ) throws(FileError) -> (signature: FileSignature, bytes: [UInt8]) {
        guard let signature = FileSignature(descriptor: descriptor), signature.size <= maxBytes else {
            throw FileError(.unreadable, path: path, "The file is too large. Name another file.")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = readChunk(descriptor, &buffer)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw FileError(readingFailedWith: errno, path: path) }
            if count == 0 { return (signature, bytes) }
            bytes += buffer[..<count]
            if bytes.count > maxBytes {
                throw FileError(.unreadable, path: path, "The file does not end. Name a regular file.")
            }
        }
    }
}

// The system's functions, outside of the type whose methods have the same names.

private func openToRead(_ path: String, _ flags: Int32) -> Int32 { open(path, O_RDONLY | O_CLOEXEC | flags) }

private func readChunk(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}

/// Tells one version of a file from another: its identity and size, the times of the last change of its content and of
/// its status, its owner and its mode. `chmod` and `chown` make another version too, because they decide who can read
/// the file.
struct FileSignature: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let owner: UInt32
    let group: UInt32
    let mode: UInt32
    let modified: [Int]
    let changed: [Int]

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        (owner, group, mode) = (status.st_uid, status.st_gid, UInt32(status.st_mode))
        #if canImport(Glibc)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        #else
        modified = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
        changed = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
        #endif
    }

    var privacyProblem: String? {
        let allowed: UInt32 = owner == 0 && geteuid() != 0 ? 0o740 : 0o700
        guard mode & 0o777 & ~allowed != 0 else { return nil }
        return "Other users can access the file (mode \(String(mode & 0o7777, radix: 8))). Run chmod 600 on it."
    }

    /// The file at a path; `nil` if there is none, or if its folder cannot be searched.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file of an open descriptor.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// The version of a file that something was read from.
package struct FileVersion: Hashable, Sendable {
    let path: String
    let signature: FileSignature

    /// Whether the file is still this version.
    var isCurrent: Bool { FileSignature(path: path) == signature }
}

extension FileError {
    /// The error for a value of `errno`.
    fileprivate init(readingFailedWith number: Int32, path: String) {
        switch number {
        case ENOENT, ENOTDIR:
            self.init(.missing, path: path, "There is no such file. Create it, or name the right one.")
        case EACCES, EPERM:
            self.init(
                .unreadable, path: path,
                "This process has no permission to read the file. Give its user read permission.")
        case EISDIR:
            self.init(.unreadable, path: path, "This is a folder. Name the file in it.")
        default:
            self.init(.unreadable, path: path, "The file cannot be read: \(String(cString: strerror(number))).")
        }
    }
}
