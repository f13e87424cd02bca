public import Foundation

/// A RabbitMQ node of one test's own, which it may kill and restart; by `scripts/rabbitmq.sh`.
public struct RabbitMQServer: Sendable {
    public let directory: URL
    public let port: Int

    public var url: String { "amqp://guest:guest@127.0.0.1:\(port)/%2F" }
    /// A port that nobody else is given, for a second listener.
    public var secondPort: Int { port + 3 }

    public func start() async throws { try await script("start", String(port)) }
    public func stop() async throws { try await script("stop") }
    public func kill() async throws { try await script("kill") }

    /// Gives every quorum queue a leader that lost it in a crash, and tells what it did.
    public func heal() async throws -> String { try await script("heal") }

    /// `rabbitmqctl` on this node.
    public func control(_ arguments: String...) async throws { try await script("ctl", arguments) }

    /// Whether a crash now would leave the queue its log: RabbitMQ before 2024 notes a new queue half a second late.
    public func remembers(queue: String) throws -> Bool {
        let folder = directory.appending(path: "mnesia")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent == "names.dets" else { continue }
            return try Data(contentsOf: file).range(of: Data(queue.utf8)) != nil
        }
        return false
    }

    @discardableResult
    private func script(_ command: String, _ arguments: String...) async throws -> String {
        try await script(command, arguments)
    }

    @discardableResult
    private func script(_ command: String, _ arguments: [String]) async throws -> String {
        let path = TestEnvironment.packageRoot.appending(path: "scripts/rabbitmq.sh").path
        return try await run(path, [command, directory.path] + arguments)
    }
}

/// Starts a node, runs `body`, and stops it.
///
/// - Parameter configuration: lines of `rabbitmq.conf`, for the node's folder and its ports.
public func withRabbitMQServer<Value>(
    configuration: (RabbitMQServer) throws -> [String] = { _ in [] },
    _ body: (RabbitMQServer) async throws -> Value
) async throws -> Value {
    let name = "securepush-rabbitmq-\(UUID().uuidString)"
    let directory = FileManager.default.temporaryDirectory.appending(path: name)
    let server = RabbitMQServer(directory: directory, port: try freePorts(4))
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let lines = ["loopback_users.guest = true", "log.file.level = warning"] + (try configuration(server))
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: directory.appending(path: "rabbitmq.conf"))
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
