import ArgumentParser
import Foundation
import Foundations

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

    /// The text of a file that a command of setup has made, and of which it hands out a copy. Root follows no link that
    /// another user can have made.
    static func readOwn(_ path: String) throws -> String {
        let content = try naming { () throws(FileError) in
            let (folder, name) = try SafeFolder.find(path)
            return try folder.read(name)?.content
        }
        guard let line = content?.textWithoutEnd else {
            throw CommandFailure(.configuration, "There is no file \(path).")
        }
        guard !line.isEmpty else { throw CommandFailure(.configuration, "\(path) is empty.") }
        return line
    }

    /// Creates a file and its folder, unless the file exists.
    ///
    /// - Returns: whether the file was created.
    @discardableResult
    static func create(_ path: String, _ text: String, mode: UInt32 = 0o600) throws -> Bool {
        let (place, name) = SafeFolder.split(path)
        return try naming { () throws(FileError) in
            try SafeFolder(path: place, creatingWith: 0o700).make(name, with: text + "\n", mode: mode)
        }
    }

    /// Replaces the text of a file as a whole, unless the file has that text already. The owner stays.
    ///
    /// - Returns: whether the file was written.
    static func replace(_ path: String, _ text: String, mode: UInt32) throws -> Bool {
        let (place, name) = SafeFolder.split(path)
        return try naming { () throws(FileError) in
            let folder = try SafeFolder(path: place, creatingWith: 0o700)
            let current = try? folder.read(name)
            if let former = current?.content.text, OutsideText.areSame(former, text + "\n") { return false }
            try folder.replace(name, with: text + "\n", mode: mode, owner: current?.owner)
            return true
        }
    }

    static func remove(_ path: String) throws {
        let (place, name) = SafeFolder.split(path)
        try naming { () throws(FileError) in try SafeFolder(path: place).remove(name) }
    }

    /// Creates a folder with mode 0700, and its missing parents.
    static func makeFolder(_ path: String) throws {
        try naming { () throws(FileError) in _ = try SafeFolder(path: path, creatingWith: 0o700) }
    }

    private static func naming<Value>(_ body: () throws(FileError) -> Value) throws -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// The permission bits of a file; `nil` if the file does not exist.
    static func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }
}
