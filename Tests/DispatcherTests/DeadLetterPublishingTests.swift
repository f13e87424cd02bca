import Domain
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// How dead letters are published, counted and logged.
@Suite struct DeadLetterPublishingTests {
    /// Counts calls, and confirms when it is told to.
    private final class HeldPublisher: DispatchPublisher {
        private struct State {
            var calls: [[DispatchRoute]] = []
            var waiting: [CheckedContinuation<Void, Never>] = []
            var isOpen = false
        }

        private let state = Mutex(State())
        let isConnected = true

        var calls: [[DispatchRoute]] { state.withLock { $0.calls } }

        func confirm() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }

        func publish(
            _ messages: [(message: DispatchMessage, route: DispatchRoute)]
        ) async -> [Result<Void, MessagingError>] {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    state.calls.append(messages.map(\.route))
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
            return messages.map { _ in .success(()) }
        }
    }

    private func letter(_ reason: String, _ cause: DeadLetterCause) -> DeadLetterDraft {
        DeadLetterDraft(message: DispatchMessage(id: NotificationID()), reason: reason, cause: cause)
    }

    /// Of a hundred reasons none waits for the confirm of another, and no acknowledgement waits for any.
    @Test func `All reasons are published in one go`() async throws {
        let (broker, publisher) = (FakeBroker(), HeldPublisher())
        let settler = DispatchSettler(
            consumer: broker, publisher: publisher, store: memoryStore(), policy: DispatchPolicy(), prefetch: 1024,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            metrics: DispatchMetrics(platforms: [.apple]))
        func delivery(_ tag: UInt64) -> DispatchDelivery {
            DispatchDelivery(tag: tag, epoch: 1, message: DispatchMessage(id: NotificationID()))
        }
        var settlements = (1...100).map { tag in
            Settlement(delivery: delivery(tag), dead: letter("HTTP 400: \(tag)", .refused(status: 400)))
        }
        settlements.append(Settlement(delivery: delivery(101)))
        settler.settle(settlements)
        await settler.finish()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await settler.run() }
            try await expectEventually { publisher.calls.count == 1 }
            #expect(broker.record.acknowledged == [101])
            publisher.confirm()
            try await group.waitForAll()
        }
        #expect(publisher.calls == [(1...100).map { .dead(reason: "HTTP 400: \($0)") }])
        #expect(broker.record.acknowledged.count == 101)
    }

    @Test(arguments: [
        (DeadLetterCause.refused(status: 400), "http_400"), (.refused(status: 413), "http_413"),
        (.refused(status: 307), "http_other"), (.refused(status: nil), "invalid"), (.attempts, "attempts"),
        (.body, "unreadable"), (.record, "record"), (.redelivered, "redelivered"),
    ])
    func `The label is one of a few`(_ cause: DeadLetterCause, _ label: String) {
        #expect(cause.label == label)
        #expect(DeadLetterCause.labels.contains(label))
        #expect(DeadLetterCause.labels.count == 12)
    }

    @Test func `One line a minute and reason`() {
        let clock = Mutex(ContinuousClock.now)
        let book = LogBook()
        let log = DeadLetterLog { clock.withLock { $0 } }
        for number in 0..<50 {
            log.log(letter("HTTP 400: \(number)", .refused(status: 400)), book.logger)
            log.log(letter("HTTP 413", .refused(status: 413)), book.logger)
        }
        #expect(book.lines.map { $0.metadata["reason"] } == ["http_400", "http_413"])
        #expect(book.lines.map { $0.metadata["error"] } == ["HTTP 400: 0", "HTTP 413"])
        clock.withLock { $0 += .seconds(60) }
        log.log(letter("HTTP 400: 50", .refused(status: 400)), book.logger)
        #expect(book.lines.count == 3)
        #expect(book.lines.last?.metadata["count"] == "50")
    }
}
