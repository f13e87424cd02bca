import ArgumentParser
import Foundation
import SecurePushCore

/// Files that hold secrets. New files get mode 0600, new folders mode 0700.
///
/// Secrets come from files, standard input or the environment, never from the value of a flag, which `ps` shows.
enum SecretFile {
    /// The text of a file without a byte order mark, and without the blanks and line ends at its end.
    ///
    /// - Parameter option: the option or variable that names the file, for the message.
    /// - Throws: ``CommandFailure`` with code `configuration` if the file cannot be read, is not UTF-8, or is empty.
    static func read(_ path: String, of option: String? = nil) throws -> String {
        let place = option.map { "\($0): " } ?? ""
        let text: String
        do {
            text = try FileContent(path: path).textWithoutEnd
        } catch {
            throw CommandFailure(.configuration, "\(place)\(error)")
        }
        guard !text.isEmpty else { throw CommandFailure(.configuration, "\(place)\(path) is empty.") }
        return text
    }

    /// Creates a file and its folder, unless the file exists.
    ///
    /// - Returns: whether the file was created.
    @discardableResult
    static func create(_ path: String, _ text: String) throws -> Bool {
        try makeFolder(URL(filePath: path).deletingLastPathComponent().path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return false }
            throw CommandFailure(.configuration, "Cannot create \(path): \(String(cString: strerror(errno))).")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data((text + "\n").utf8))
        try file.synchronize()
        try file.close()
        return true
    }

    /// Replaces the text of a file atomically, unless the file has that text already.
    ///
    /// - Returns: whether the file was written.
    static func replace(_ path: String, _ text: String, mode: mode_t) throws -> Bool {
        if let former = try? FileContent(path: path).text, OutsideText.areSame(former, text + "\n") { return false }
        let new = path + ".new"
        if exists(new) { try FileManager.default.removeItem(atPath: new) }
        guard try create(new, text), chmod(new, mode) == 0, rename(new, path) == 0 else {
            throw CommandFailure(.configuration, "Cannot write \(path): \(String(cString: strerror(errno))).")
        }
        return true
    }

    /// Creates a folder with mode 0700, and its missing parents.
    static func makeFolder(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(.configuration, "Cannot create the folder \(path): \(ErrorText.reason(error)).")
        }
    }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The permission bits of a file; `nil` if the file does not exist.
    static func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }
}
