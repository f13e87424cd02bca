import Domain
import Foundations
import Logging
import StackKit
import Storage
import Synchronization

@testable import Dispatcher

extension Operation {
    /// The first attempt of one notification for three platforms, from its delivery to its acknowledgement, in groups
    /// of 64: without broker, store and hub.
    static var dispatcher: [Operation] {
        [
            Operation("dispatcher.dispatch", count: 1280) { _ in
                let broker = LocalBroker()
                let pipeline = DispatchPipeline(
                    consumer: broker, publisher: AwayBroker(), store: FixedLedger(base: try openStoreInMemory()),
                    gateway: AcceptingHub(),
                    policy: DispatchPolicy(platforms: Samples.platforms, maxAttempts: 5), logger: Samples.logger)
                Task { try await pipeline.run() }
                return { count in
                    for _ in 0..<max(1, count / 64) { await broker.pass(64) }
                }
            }
        ]
    }
}

/// Delivers groups of messages, and waits until they are acknowledged.
final class LocalBroker: DispatchConsumer {
    private struct State {
        var nextTag: UInt64 = 1
        var missing = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let box = Mailbox<DispatchDelivery>()
    private let state = Mutex(State())
    private let id = NotificationID()

    var isConnected: Bool { true }

    func pass(_ count: Int) async {
        let first = state.withLock { state in
            defer { state.nextTag += UInt64(count) }
            state.missing = count
            return state.nextTag
        }
        let deliveries = (0..<count).map { number in
            DispatchDelivery(
                tag: first + UInt64(number), epoch: 1,
                message: DispatchMessage(
                    id: NotificationID(high: id.high, low: id.low &+ first &+ UInt64(number)),
                    traceparent: Samples.traceparent, isFirst: true))
        }
        await withCheckedContinuation { waiter in
            state.withLock { $0.waiter = waiter }
            box.put(deliveries)
        }
    }

    func next(limit: Int) async -> [DispatchDelivery]? { await box.take(limit: limit) }

    func acknowledge(_ deliveries: [DispatchDelivery]) {
        let waiter = state.withLock { state in
            state.missing -= deliveries.count
            return state.missing == 0 ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    func requeue(_ deliveries: [DispatchDelivery]) { preconditionFailure("Nothing can fail here.") }
}

/// Claims and records everything at once.
struct FixedLedger: ForwardingStore {
    let base: any Store
    private let recipient = Samples.recipient
    private let expiry = Timestamp.now + .seconds(86_400)

    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        var plans: [NotificationID: DispatchPlan] = [:]
        plans.reserveCapacity(ids.count)
        for id in ids {
            plans[id] = DispatchPlan(
                id: id, recipient: recipient, expiresAt: expiry, traceparent: Samples.traceparent)
        }
        return DispatchClaims(plans: plans)
    }

    func enter(_ ids: [NotificationID], now: Timestamp) async throws {}

    func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims { preconditionFailure("These are first attempts.") }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> { [] }
}

/// Accepts every push at once.
struct AcceptingHub: PushGateway {
    func send(
        _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
    ) {
        completion(.sent(hubMessageID: "3d2b0c7e-0f4b-4c43-a1c5-1d7f4e5a6b01"))
    }

    func stop(within duration: Duration) {}
}
