#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that only its owner reads, mode 0600, and that is never seen half written.
package enum PrivateFile {
    /// The file's text, or `nil` when there is no such file.
    static func read(_ path: String) throws -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(.unreadable, "cannot read \(path)")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = readChunk(descriptor, &chunk)
            guard count >= 0 else { throw failure(.unreadable, "cannot read \(path)") }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AuthenticationSetupError(.malformed, "\(path) is not UTF-8 text")
        }
        return text
    }

    /// Changes the file's text (`nil`: there is no file yet) under a lock on its folder, so that of two programs that
    /// edit at once neither loses the other's change. The folder is made, mode 0700, when it is missing.
    package static func edit<Result>(_ path: String, _ change: (String?) throws -> (text: String, result: Result))
        throws
        -> Result
    {
        let path = resolved(path)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw failure(.unwritable, "cannot make the folder of \(path)")
        }
        let lock = open(folder, O_RDONLY | O_CLOEXEC)
        guard lock >= 0 else { throw failure(.unwritable, "cannot open the folder of \(path)") }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw failure(.unwritable, "cannot lock the folder of \(path)") }
        let (text, result) = try change(try read(path))
        try replace(path, with: text)
        _ = fsync(lock)
        return result
    }

    private static func replace(_ path: String, with text: String) throws {
        // mkstemp makes the file with mode 0600.
        var template = Array("\(path).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(.unwritable, "cannot write beside \(path)") }
        var isRenamed = false
        defer { if !isRenamed { unlink(template) } }
        do {
            defer { close(descriptor) }
            keepOwner(of: path, descriptor)
            try write(text, to: descriptor, path)
        }
        guard rename(template, path) == 0 else { throw failure(.unwritable, "cannot replace \(path)") }
        isRenamed = true
    }

    private static func write(_ text: String, to descriptor: Int32, _ path: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                #else
                Darwin.write(descriptor, bytes.baseAddress, bytes.count)
                #endif
            }
            guard count > 0 else { throw failure(.unwritable, "cannot write \(path)") }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw failure(.unwritable, "cannot write \(path) to the disk") }
    }

    /// An administrator's edit must not take the file from the service that reads it. Others may not give files away,
    /// and need not.
    private static func keepOwner(of path: String, _ descriptor: Int32) {
        var status = stat()
        if stat(path, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
    }

    /// A link to the file stays one.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func failure(_ code: AuthenticationSetupError.Code, _ message: String) -> AuthenticationSetupError {
        AuthenticationSetupError(code, "\(message): \(String(cString: strerror(errno)))")
    }
}

private func readChunk(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
    read(descriptor, &buffer, buffer.count)
}
