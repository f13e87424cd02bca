import AMQP
import ChaosChecker
import Domain
import Foundation
import Foundations
import Logging
import Messaging
import ServiceLifecycle
import StackKit
import Storage
import Synchronization

/// Looks at the store through the port that senders' questions are answered by.
final class StoreWatch: Sendable {
    private let opened: OpenedStore
    private let history: HistoryWriter
    private let platforms: [Platform]
    private let cursor = Mutex<NotificationID?>(nil)

    init(_ stack: Stack, history: HistoryWriter) async throws {
        var logger = Logger(label: "chaos")
        logger.logLevel = .critical
        opened = try await openStore(StorageConfiguration(url: stack.databaseURL, migrations: .check), logger: logger)
        self.history = history
        platforms = stack.options.platformNames.map(Platform.init(rawValue:))
    }

    /// Works until the task is cancelled.
    func run() async { try? await opened.service.run() }

    func awaitReadiness() async throws {
        for _ in 0..<200 {
            if (try? await opened.store.ping(timeout: .seconds(1))) != nil { return }
            await pause(.milliseconds(100))
        }
        try await opened.store.ping(timeout: .seconds(1))
    }

    /// Looks at some records while the run lasts, going round and round, until the task is cancelled: what was seen
    /// to be settled must be found the same at the end.
    func observe() async {
        while !Task.isCancelled {
            await pause(.seconds(1))
            let before = cursor.withLock { $0 }
            guard let page = try? await page(before: before, limit: 200) else { continue }
            for record in page.records { history.write(.record(.init(record, isFinal: false))) }
            cursor.withLock { $0 = page.next }
        }
    }

    /// How many notifications still owe a platform a push. A revoked one owes none, and it may never have been claimed.
    func unsettledCount() async throws -> Int {
        var count = 0
        try await forEachRecord { record in
            guard record.revokedAt == nil else { return }
            let settled = record.deliveries.filter(\.state.isSettled).map(\.platform)
            if !Set(platforms).isSubset(of: settled) { count += 1 }
        }
        return count
    }

    /// Puts every record into the history as final.
    func writeFinalRecords() async throws {
        try await forEachRecord { history.write(.record(.init($0, isFinal: true))) }
    }

    private func forEachRecord(_ body: (NotificationRecord) -> Void) async throws {
        var before: NotificationID?
        repeat {
            let page = try await page(before: before, limit: 1000)
            for record in page.records { body(record) }
            before = page.next
            try Task.checkCancellation()
        } while before != nil
    }

    private func page(before: NotificationID?, limit: Int) async throws -> NotificationPage {
        try await opened.store.page(
            NotificationQuery(sender: "chaos", before: before, limit: limit), now: .now)
    }
}

extension HistoryEvent.Record {
    init(_ record: NotificationRecord, isFinal: Bool) {
        let now = Timestamp.now
        self.init(
            time: now.milliseconds, isFinal: isFinal, id: record.id.description, recipient: record.recipient.text,
            isExpired: record.expiresAt <= now, isRevoked: record.revokedAt != nil,
            deliveries: record.deliveries.map {
                Delivery(
                    platform: $0.platform.rawValue, state: $0.state.rawValue, attempts: $0.attempts,
                    unanswered: $0.unanswered, updatedAt: $0.updatedAt.milliseconds)
            })
    }
}

/// Puts what is in the dead-letter queue into the history.
enum LetterReader {
    static func read(_ stack: Stack, history: HistoryWriter) async throws {
        let configuration = try MessagingConfiguration(
            amqpURL: stack.broker.url, retryDelays: RetryDelays.standard.delays, connectionName: "chaos")
        let queue: RabbitMQDeadLetterQueue
        do { queue = try await RabbitMQDeadLetterQueue.open(configuration) } catch {
            // Nobody has had anything to do with it.
            if error.code == .notFound { return }
            throw error
        }
        do {
            while let letter = try await queue.next() {
                history.write(
                    .letter(
                        .init(
                            id: letter.message?.id.description,
                            platforms: (letter.message?.platforms ?? []).map(\.rawValue), reason: letter.reason)))
            }
        } catch {
            await queue.close()
            throw error
        }
        await queue.close()
    }
}
