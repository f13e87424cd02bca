package import Foundation

/// A private RabbitMQ node on loopback, which may be killed and started again; run by `scripts/rabbitmq.sh`.
package struct RabbitMQServer: Sendable {
    package let folder: URL
    /// The AMQP port; the script uses the two after it as well.
    package let port: Int
    private let scripts: Scripts

    package init(folder: URL, port: Int, scripts: Scripts = .ofThisCheckout) {
        (self.folder, self.port, self.scripts) = (folder, port, scripts)
    }

    package var url: String { "amqp://guest:guest@127.0.0.1:\(port)/%2F" }
    /// A free port for a second listener, where the node was given four.
    package var secondPort: Int { port + 3 }

    package func start() async throws { try await script("start", [String(port)]) }
    package func stop() async throws { try await script("stop") }
    /// SIGKILL.
    package func kill() async throws { try await script("kill") }

    /// Elects a leader for every quorum queue that lost it in a crash (rabbitmq-server issue 10070).
    ///
    /// - Returns: the script's output, one line `healed NAME` per queue.
    package func heal() async throws -> String { try await script("heal") }

    /// `rabbitmqctl` on this node.
    package func control(_ arguments: String...) async throws { try await script("ctl", arguments) }

    /// Deletes the data of a stopped node; its configuration stays.
    package func wipe() throws { try FileManager.default.removeItem(at: folder.appending(path: "mnesia")) }

    /// Whether the log of a queue would survive a crash now: RabbitMQ before 2024 writes a new queue's name down half a
    /// second late.
    package func remembers(queue: String) throws -> Bool {
        let files = FileManager.default.enumerator(
            at: folder.appending(path: "mnesia"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent == "names.dets" else { continue }
            return try Data(contentsOf: file).range(of: Data(queue.utf8)) != nil
        }
        return false
    }

    @discardableResult
    private func script(_ command: String, _ arguments: [String] = []) async throws -> String {
        try await scripts.run("rabbitmq.sh", [command, folder.path] + arguments)
    }
}

/// Starts a node in a temporary folder, runs the body, and stops the node.
///
/// - Parameter configuration: further lines of `rabbitmq.conf`, made from the node's folder and ports.
package func withRabbitMQServer<Value>(
    configuration: (RabbitMQServer) throws -> [String] = { _ in [] },
    _ body: (RabbitMQServer) async throws -> Value
) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-rabbitmq-\(UUID().uuidString)")
    let server = RabbitMQServer(folder: folder, port: try freePorts(4))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let lines = ["loopback_users.guest = true", "log.file.level = warning"] + (try configuration(server))
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: folder.appending(path: "rabbitmq.conf"))
    do {
        try await server.start()
        let value = try await body(server)
        try? await server.kill()
        try? await server.stop()
        return value
    } catch {
        try? await server.kill()
        try? await server.stop()
        throw error
    }
}
