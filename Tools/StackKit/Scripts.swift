package import Foundation

/// The repository's scripts that start, kill and stop servers (`rabbitmq.sh`, `rabbitmq-cluster.sh`, `postgres.sh`).
package struct Scripts: Sendable {
    /// The folder that holds them.
    package let folder: URL

    package init(folder: URL) { self.folder = folder }

    /// The scripts of this checkout.
    package static let ofThisCheckout = Scripts(
        folder: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "scripts"))

    /// Whether a script is there and executable.
    package func has(_ name: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: folder.appending(path: name).path)
    }

    /// Runs a script to its end, for two minutes at most, and returns its output.
    ///
    /// - Throws: ``ProgramFailed``.
    @discardableResult
    package func run(_ name: String, _ arguments: [String]) async throws -> String {
        let path = folder.appending(path: name).path
        return try await StackKit.run("/bin/bash", [path] + arguments, within: .seconds(120))
    }
}
