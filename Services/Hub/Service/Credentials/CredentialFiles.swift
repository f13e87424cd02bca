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
    /// Files with secrets that other users can access, each with its name and the problem.
    private(set) var openFiles: [String] = []

    /// - Parameter path: of the file of credentials.
    init(besides path: String) {
        folder = SafeFolder.split(path).folder
    }

    /// The text of a file.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the file of credentials.
    ///   - isSecret: whether nobody but its owner should be able to read it.
    /// - Throws: ``FileError``.
    func text(_ path: String, isSecret: Bool) throws(FileError) -> String {
        let place = path.utf8.first == UInt8(ascii: "/") ? path : "\(folder)/\(path)"
        let content = try FileContent(path: place, maxBytes: Self.maxBytes)
        versions.append(content.version(place))
        names.append(path)
        if isSecret, let problem = content.privacyProblem { openFiles.append("\(path): \(problem)") }
        return content.text
    }
}
