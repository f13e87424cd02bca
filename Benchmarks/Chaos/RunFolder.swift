import Foundation

/// Where everything of a run is.
struct RunFolder: Sendable {
    let url: URL

    /// - Parameter path: made unless it is there; `nil` for a new temporary folder.
    init(_ path: String?) throws {
        if let path {
            url = URL(filePath: path).standardizedFileURL
        } else {
            url = FileManager.default.temporaryDirectory
                .appending(path: "securepush-chaos-\(UUID().uuidString.prefix(8).lowercased())")
        }
        for folder in [url, run, logs] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    /// Process IDs, for who must end what a run has left behind.
    var run: URL { url.appending(path: "run") }
    var logs: URL { url.appending(path: "logs") }
    var broker: URL { url.appending(path: "rabbitmq") }
    var postgres: URL { url.appending(path: "postgres") }
    var sqlite: URL { url.appending(path: "sqlite") }
    var secrets: URL { url.appending(path: "secrets") }
}
