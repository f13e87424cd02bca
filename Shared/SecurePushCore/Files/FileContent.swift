#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What tells one version of a file from another: its identity and size, the times of its last change of content and of
/// status, its owner and its mode. `chmod` and `chown` make another version too, because they decide who can read it.
struct FileSignature: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var owner: UInt32
    var group: UInt32
    var mode: UInt32
    var modified: [Int]
    var changed: [Int]

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

    /// The file at a path; `nil` when there is none or its folder cannot be searched.
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

/// A whole small file, with the signature of exactly the file that was read.
struct FileContent {
    var signature: FileSignature
    var text: String

    /// Past this a file is none of ours; a device or a log was named by mistake.
    private static let maximumSize = 64 << 20

    init(path: String) throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(openingFailedWith: errno, path: path) }
        defer { close(descriptor) }
        guard let signature = FileSignature(descriptor: descriptor), signature.size <= FileContent.maximumSize else {
            throw FileError(.unreadable, path: path, "The file is too large to be what it should. Name another file.")
        }
        self.signature = signature
        text = try FileContent.read(descriptor, path: path)
    }

    private static func read(_ descriptor: Int32, path: String) throws(FileError) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            #else
            let count = Darwin.read(descriptor, &buffer, buffer.count)
            #endif
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw FileError(openingFailedWith: errno, path: path) }
            if count == 0 { break }
            bytes += buffer[..<count]
            if bytes.count > maximumSize {
                throw FileError(.unreadable, path: path, "The file does not end. Name a regular file.")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FileError(.malformed, path: path, "The file is not UTF-8 text. Write it again as UTF-8.")
        }
        return text
    }
}

extension FileError {
    fileprivate init(openingFailedWith number: Int32, path: String) {
        switch number {
        case ENOENT, ENOTDIR:
            self.init(.missing, path: path, "There is no such file. Make it, or name the right one.")
        case EACCES, EPERM:
            self.init(
                .unreadable, path: path, "This process may not read the file. Give its user the right to read it.")
        case EISDIR:
            self.init(.unreadable, path: path, "This is a folder. Name the file in it.")
        default:
            self.init(.unreadable, path: path, "The file cannot be read: \(String(cString: strerror(number))).")
        }
    }
}
