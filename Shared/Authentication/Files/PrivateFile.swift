internal import SecurePushCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that only its owner can read (mode 0600), and that is replaced as a whole.
package enum PrivateFile {
    /// The text of the file; `nil` if there is none.
    static func read(_ path: String) throws(AuthenticationSetupError) -> String? {
        do throws(FileError) {
            return try FileContent(path: path).text
        } catch {
            if error.code == .missing { return nil }
            throw AuthenticationSetupError(error.code == .malformed ? .malformed : .unreadable, "\(error)")
        }
    }

    /// The text of a file.
    ///
    /// - Throws: ``AuthenticationSetupError``: `unreadable`, also if there is no file; `malformed`.
    static func existingText(_ path: String) throws(AuthenticationSetupError) -> String {
        guard let text = try read(path) else {
            throw AuthenticationSetupError(.unreadable, "there is no file \(path)")
        }
        return text
    }

    /// Replaces the text of the file, while its folder is locked, so that two programs that edit at the same time do
    /// not lose a change. A missing folder is created with the mode 0700.
    ///
    /// - Parameter change: gets the current text, or `nil` if there is no file yet.
    /// - Throws: ``AuthenticationSetupError``, and what `change` throws.
    package static func edit<Result>(
        _ path: String, _ change: (String?) throws -> (text: String, result: Result)
    ) throws -> Result {
        let path = resolved(path)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw failure(.unwritable, "cannot create the folder of \(path)")
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

    /// When an administrator edits the file, the service must still be able to read it. Other users cannot change the
    /// owner of a file, and need not.
    private static func keepOwner(of path: String, _ descriptor: Int32) {
        var status = stat()
        if stat(path, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
    }

    /// A link to the file stays a link.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func failure(_ code: AuthenticationSetupError.Code, _ message: String) -> AuthenticationSetupError {
        AuthenticationSetupError(code, "\(message): \(String(cString: strerror(errno)))")
    }
}
