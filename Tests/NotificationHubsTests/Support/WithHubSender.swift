import Domain
import Foundations
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

@testable import NotificationHubs

/// A configuration for a hub on this machine.
func localHub(port: Int, scheme: String = "http", key: String = "secret-key=") throws -> NotificationHubConfiguration {
    try NotificationHubConfiguration(
        connectionString: "Endpoint=\(scheme)://127.0.0.1:\(port)/;SharedAccessKeyName=Rule;SharedAccessKey=\(key)",
        hubName: "hub")
}

/// Runs a service for the time of `body`, which may stop it itself.
func withService<Result: Sendable>(
    _ service: any Service, _ body: @escaping @Sendable (ServiceGroup) async throws -> Result
) async throws -> Result {
    let group = ServiceGroup(services: [service], logger: Logger(label: "test"))
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        defer { tasks.cancelAll() }
        let result = try await body(group)
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
        return result
    }
}

/// Runs a sender against a fake hub.
func withHubSender<Result: Sendable>(
    _ hub: FakeHub, concurrency: Int = 4, options: HubSenderOptions = HubSenderOptions(),
    _ body: @escaping @Sendable (HubSender, ServiceGroup) async throws -> Result
) async throws -> Result {
    let sender = HubSender(
        configuration: try localHub(port: hub.port), concurrency: concurrency, logger: Logger(label: "test"),
        options: options)
    return try await withService(sender) { try await body(sender, $0) }
}

extension PushGateway {
    func send(_ notification: HubNotification, completion: @escaping @Sendable (SendOutcome) -> Void) {
        send(notification, trace: nil, completion: completion)
    }

    /// Sends and waits.
    func send(_ notification: HubNotification) async -> SendOutcome {
        await withCheckedContinuation { continuation in
            send(notification) { continuation.resume(returning: $0) }
        }
    }
}

extension HubNotification {
    static let sample = HubNotification(
        platform: .apple, tag: "username:alice", contentType: "application/json;charset=utf-8",
        headers: [Header("apns-push-type", "background"), Header("apns-priority", "5")],
        body: #"{"aps":{"content-available":1},"secureId":"7"}"#)
}

extension SendOutcome {
    var isSent: Bool { if case .sent = self { true } else { false } }
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    var isNotSent: Bool { if case .notSent = self { true } else { false } }
    var isUnanswered: Bool { if case .unanswered = self { true } else { false } }
}
