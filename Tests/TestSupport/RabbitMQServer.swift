public import Foundation

/// A RabbitMQ node of one test's own, which it may kill and restart; by `scripts/rabbitmq.sh`.
public struct RabbitMQServer: Sendable {
    public let directory: URL
    public let port: Int

    public var url: String { "amqp://guest:guest@127.0.0.1:\(port)/%2F" }

    public func start() async throws { try await script("start", String(port)) }
    public func stop() async throws { try await script("stop") }
    public func kill() async throws { try await script("kill") }
    public func heal() async throws { try await script("heal") }

    private func script(_ command: String, _ arguments: String...) async throws {
        let path = TestEnvironment.packageRoot.appending(path: "scripts/rabbitmq.sh").path
        try await run(path, [command, directory.path] + arguments)
    }
}

/// Starts a node, runs `body`, and stops it.
public func withRabbitMQServer<Value>(_ body: (RabbitMQServer) async throws -> Value) async throws -> Value {
    let name = "securepush-rabbitmq-\(UUID().uuidString)"
    let directory = FileManager.default.temporaryDirectory.appending(path: name)
    let server = RabbitMQServer(directory: directory, port: try freePorts(3))
    defer { try? FileManager.default.removeItem(at: directory) }
    try await server.start()
    do {
        let value = try await body(server)
        try await server.stop()
        return value
    } catch {
        try? await server.kill()
        try? await server.stop()
        throw error
    }
}

/// A program that did not end well, with what it said.
public struct ProgramFailed: Error, CustomStringConvertible {
    public let program: String
    public let status: Int32
    public let output: String
    public var description: String { "\(program) ended with \(status): \(output)" }
}

/// Runs a program, and throws when it does not end with status 0.
///
/// Its output goes to a file: a pipe would stay open as long as the servers that the program leaves behind.
@discardableResult
public func run(_ program: String, _ arguments: [String]) async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let handle = try FileHandle(forWritingTo: file)
    (process.standardOutput, process.standardError) = (handle, handle)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        process.terminationHandler = { _ in continuation.resume() }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let output = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    guard process.terminationStatus == 0 else {
        throw ProgramFailed(program: program, status: process.terminationStatus, output: output)
    }
    return output
}
