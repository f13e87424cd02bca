internal import Domain
internal import Foundations

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that only its owner can read (mode 0600), and that is replaced as a whole.
package enum PrivateFile {
    /// The text of the file; `nil` if there is none.
    static func read(_ path: String) throws(SetupError) -> String? {
        do throws(FileError) {
            return try FileContent(path: path).text
        } catch {
            if error.code == .missing { return nil }
            throw unreadable(error)
        }
    }

    /// The text of a file.
    ///
    /// - Throws: ``SetupError``: `unreadable`, also if there is no file; `malformed`.
    static func existingText(_ path: String) throws(SetupError) -> String {
        guard let text = try read(path) else {
            throw SetupError(.unreadable, "there is no file \(path)")
        }
        return text
    }

    /// Replaces the text of the file, while its folder is locked, so that two programs that edit at the same time do
    /// not lose a change. A missing folder is created with the mode 0700. A link to the file stays a link; root follows
    /// none that another user can have made (``SafeFolder``).
    ///
    /// - Parameter change: gets the current text, or `nil` if there is no file yet.
    /// - Throws: ``SetupError``, and the errors of `change`.
    package static func edit<Result>(
        _ path: String, _ change: (String?) throws -> (text: String, result: Result)
    ) throws -> Result {
        let (folder, name) = try writing(path) { () throws(FileError) in
            try SafeFolder.find(path, creatingWith: 0o700)
        }
        let lock = try writing(path) { () throws(FileError) in try folder.openItself() }
        defer { close(lock) }
        try take(lock, path)
        let current: (content: FileContent, owner: FileOwner)?
        do throws(FileError) { current = try folder.read(name) } catch { throw unreadable(error) }
        let (text, result) = try change(current?.content.text)
        // When an administrator edits the file, the service must still be able to read it.
        try writing(path) { () throws(FileError) in
            try folder.replace(name, with: text, mode: 0o600, owner: current?.owner)
        }
        return result
    }

    /// Another user of the folder may hold its lock.
    private static func take(_ lock: Int32, _ path: String) throws {
        let end = ContinuousClock.now + .seconds(30)
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else {
                throw SetupError(
                    .unwritable, "cannot lock the folder of \(path): \(String(cString: strerror(errno)))")
            }
            usleep(10_000)
        }
    }

    private static func writing<Value>(
        _ path: String, _ body: () throws(FileError) -> Value
    ) throws(SetupError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw SetupError(.unwritable, "cannot write \(path): \(error)")
        }
    }

    private static func unreadable(_ error: FileError) -> SetupError {
        SetupError(error.code == .malformed ? .malformed : .unreadable, "\(error)")
    }
}
