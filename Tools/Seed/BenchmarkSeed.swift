import Domain
import Foundation
import Foundations
import Logging
import Messaging
import ServiceLifecycle
import Storage

/// Prepares a measurement: `benchmark-seed rows N` stores N sealed notifications that wait for a dispatcher, and
/// `benchmark-seed topology` declares the exchanges and queues. `benchmark-seed steps N` runs ``StoreSteps`` on a store
/// of N rows. Settings come from the services' own keys.
@main
struct BenchmarkSeed {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.dropFirst().first.flatMap { Int($0) }) {
        case ("rows", let count?): try await storeRows(count)
        case ("steps", let count?): try await withStore { try await StoreSteps(rows: count, store: $0).run() }
        case ("topology", _): try await declareTopology()
        default: throw Usage()
        }
    }

    struct Usage: Error, CustomStringConvertible {
        var description: String { "usage: benchmark-seed rows N | steps N | topology" }
    }

    static func setting(_ name: String) throws -> String {
        struct Missing: Error { let name: String }
        guard let value = ProcessInfo.processInfo.environment[name] else { throw Missing(name: name) }
        return value
    }

    /// 1 KiB payloads for user0 … user999 in turn, as the driver's own rows; none of them is published.
    static func storeRows(_ count: Int) async throws {
        let keys = try PayloadKeyRing(String(contentsOfFile: setting("PAYLOAD_KEYS_FILE"), encoding: .utf8))
        let payload = [UInt8](JSONText.quoted(String(repeating: "secure payload. ", count: 64)).utf8)
        try await withStore { store in
            for start in stride(from: 0, to: count, by: 500) {
                let rows = try (start..<min(start + 500, count)).map { try row($0, payload: payload, keys: keys) }
                try await store.append(rows)
                try await store.confirm(rows.map(\.notification.id), until: .now + .seconds(365 * 86_400))
            }
        }
    }

    static func withStore(_ body: (any Store) async throws -> Void) async throws {
        let logger = Logger(label: "benchmark-seed")
        let opened = try await openStore(StorageConfiguration(url: setting("DATABASE_URL")), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await opened.service.run() }
            try await waitUntilReady(opened.store)
            try await body(opened.store)
            group.cancelAll()
        }
    }

    static func row(_ number: Int, payload: [UInt8], keys: PayloadKeyRing) throws -> SealedNotification {
        guard let recipient = UserName("user\(number % 1000)") else { throw Usage() }
        let notification = Notification(sender: "benchmark", recipient: recipient, expiresAt: .now + .seconds(86_400))
        return SealedNotification(
            notification: notification,
            payload: try keys.seal(payload, id: notification.id, recipient: recipient))
    }

    static func waitUntilReady(_ store: any Store) async throws {
        for _ in 0..<100 {
            if (try? await store.ping(timeout: .seconds(1))) != nil { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        try await store.ping(timeout: .seconds(1))
    }

    /// A publisher declares what it publishes to when it connects.
    static func declareTopology() async throws {
        let configuration = try MessagingConfiguration(
            amqpURL: setting("AMQP_URL"), retryDelays: RetryDelays.standard.delays, connectionName: "benchmark-seed")
        let publisher = try RabbitMQDispatchPublisher(
            configuration: configuration, logger: Logger(label: "benchmark-seed"))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await publisher.run() }
            for _ in 0..<200 where !publisher.isConnected { try? await Task.sleep(for: .milliseconds(50)) }
            group.cancelAll()
        }
    }
}
