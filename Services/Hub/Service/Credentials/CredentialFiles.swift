import Foundation
import Foundations

/// Reads the files that a file of credentials names, and notes their versions.
final class CredentialFiles {
    private static let maxBytes = 1 << 20

    /// The folder of the file of credentials.
    private let folder: String
    private(set) var versions: [FileVersion] = []
    /// As they are named.
    private(set) var names: [String] = []

    /// - Parameter path: of the file of credentials.
    init(besides path: String) {
        folder = SafeFolder.split(path).folder
    }

    /// The text of a file.
    ///
    /// - Parameter path: absolute, or relative to the file of credentials.
    /// - Throws: ``FileError``.
    func text(_ path: String) throws(FileError) -> String {
        let place = place(path)
        let content = try FileContent(path: place, maxBytes: Self.maxBytes)
        versions.append(content.version(place))
        names.append(path)
        return content.text
    }

    /// The path of a file from the working folder.
    func place(_ path: String) -> String { path.utf8.first == UInt8(ascii: "/") ? path : "\(folder)/\(path)" }
}
