import Foundation
import Foundations
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// A service without a broker and a hub that answer, started by a shell with redirections of its own. Its log may go
/// nowhere, so its port is chosen here.
struct LooseService: Sendable {
    static let names = ["ingest", "dispatcher", "retrieval", "operator", "hub-emulator"]

    let program: Program
    let port: Int
    let folder: URL

    private static let http = LoopbackHTTP(connections: 8)

    /// The settings with which each service starts. Nobody listens on port 1.
    static func settings(_ folder: URL, port: Int) -> [String: String] {
        [
            "DATABASE_URL": "sqlite:\(folder.path)/data/securepush.sqlite", "HTTP_PORT": "\(port)",
            "AMQP_URL": "amqp://guest:guest@127.0.0.1:1/%2F", "HUB_NAME": "hub", "PATH": "/usr/bin:/bin",
            "HUB_CONNECTION_STRING": "Endpoint=http://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=a2V5",
        ].merging(StackSecrets.settings) { $1 }
    }

    /// - Parameter redirections: of the shell, such as `2>&-`.
    init(
        _ name: String, _ redirections: String, _ more: [String: String] = [:], folder: URL
    ) throws {
        port = try freePorts(1)
        self.folder = folder
        let executable = ProcessUnderTest.executables.appending(path: "securepush").path
        program = try Program(
            URL(filePath: "/bin/bash"), ["-c", "exec \"$0\" serve \"$1\" \(redirections)", executable, name],
            environment: Self.settings(folder, port: port).merging(more) { $1 },
            output: folder.appending(path: "\(name).out"), errors: folder.appending(path: "\(name).log"),
            folder: folder)
    }

    func get(_ path: String, within limit: Duration = patience) async throws -> LoopbackHTTP.Response {
        try await Self.http.send(.GET, port: port, path, timeout: limit)
    }

    /// Waits until it answers.
    func waitUntilLive() async throws {
        let isLive = try await eventually {
            guard program.isRunning else { return true }
            return (try? await get("/livez").status) == 200
        }
        try #require(isLive && program.isRunning, "It does not answer.")
    }

    /// The value of a series without labels.
    func figure(_ name: String) async throws -> Double {
        let line = try await get("/metrics").body.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return try #require(line?.split(separator: " ").last.flatMap { Double($0) })
    }

    /// Sends many requests, each of which has a line in the access log.
    func fill(_ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<count / 8 {
                        let answer = try await get("/\(String(repeating: "nothing", count: 20))")
                        // The emulator asks for credentials first.
                        #expect(answer.status == 404 || answer.status == 401)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Runs a test with a folder that has the files of keys.
func withLooseFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
        path: "securepush-loose-\(UUID().uuidString.prefix(8))")
    try StackSecrets(sender: "clinic").write(to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}
