import Domain
import Foundations
import StackKit
import Synchronization

/// A broker in memory: what a test puts in is delivered, and what becomes of it is on record.
final class FakeBroker: DispatchConsumer, DispatchPublisher {
    struct Record: Sendable {
        var acknowledged: [UInt64] = []
        var requeued: [UInt64] = []
        var published: [(message: DispatchMessage, route: DispatchRoute)] = []
        var unreadable: Set<UInt64> = []
        var deadLettered: [UInt64] = []
        var nextTag: UInt64 = 1
        /// How many messages were not taken.
        var refused = 0
    }

    private let box = Mailbox<DispatchDelivery>()
    private let state = Mutex(Record())
    /// The answer to a publish to a route.
    private let answer = Mutex<@Sendable (DispatchRoute) -> MessagingError.Code?>({ _ in nil })

    var record: Record { state.withLock { $0 } }
    let isConnected = true

    /// From now on, what is published to some routes fails.
    func refusePublishes(
        _ code: MessagingError.Code = .nacked,
        where isRefused: @escaping @Sendable (DispatchRoute) -> Bool = { _ in true }
    ) {
        answer.withLock { $0 = { isRefused($0) ? code : nil } }
    }

    /// Delivers a message, or one that cannot be read.
    ///
    /// - Parameter isRedelivered: whether the broker has delivered it before.
    func deliver(_ message: DispatchMessage?, isRedelivered: Bool = false) {
        let tag = state.withLock { state in
            defer { state.nextTag += 1 }
            if message == nil { state.unreadable.insert(state.nextTag) }
            return state.nextTag
        }
        let delivery = DispatchDelivery(tag: tag, epoch: 1, message: message, isRedelivered: isRedelivered)
        box.put(CollectionOfOne(delivery))
    }

    /// As after a graceful shutdown: nothing more is delivered.
    func drain() { box.close() }

    func next(limit: Int) async -> [DispatchDelivery]? { await box.take(limit: limit) }

    func acknowledge(_ deliveries: [DispatchDelivery]) {
        state.withLock { state in
            state.acknowledged += deliveries.map(\.tag)
            state.deadLettered += deliveries.map(\.tag).filter(state.unreadable.contains)
        }
    }

    func requeue(_ deliveries: [DispatchDelivery]) {
        state.withLock { $0.requeued += deliveries.map(\.tag) }
    }

    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        let answer = answer.withLock { $0 }
        return state.withLock { state in
            messages.map { message in
                if let code = answer(message.route) {
                    state.refused += 1
                    return .failure(MessagingError(code, "refused by the test"))
                }
                state.published.append(message)
                return .success(())
            }
        }
    }
}

/// A hub that answers as the test says, for each platform in turn.
final class FakeGateway: PushGateway {
    private struct State {
        var answers: [Platform: [SendOutcome]] = [:]
        var sent: [HubNotification] = []
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var stops: [Duration] = []
    }

    private let state = Mutex(State())

    /// The answers of a platform, one after another; then, and for the others, `sent`.
    ///
    /// - Parameter holding: answers wait until ``letGo()``.
    init(_ answers: [Platform: [SendOutcome]] = [:], holding: Bool = false) {
        state.withLock { state in
            state.answers = answers
            state.isHolding = holding
        }
    }

    func letGo() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for answer in held { answer() }
    }

    var sent: [HubNotification] { state.withLock { $0.sent } }
    /// How long each stop was to take.
    var stops: [Duration] { state.withLock { $0.stops } }

    func stop(within duration: Duration) { state.withLock { $0.stops.append(duration) } }

    func send(
        _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
    ) {
        let answer = state.withLock { state -> SendOutcome in
            state.sent.append(notification)
            guard var answers = state.answers[notification.platform], !answers.isEmpty else {
                return .sent(hubMessageID: "hub-\(state.sent.count)")
            }
            let answer = answers.removeFirst()
            state.answers[notification.platform] = answers
            return answer
        }
        let isHeld = state.withLock { state in
            if state.isHolding { state.held.append { completion(answer) } }
            return state.isHolding
        }
        if !isHeld { completion(answer) }
    }
}

/// A store whose claims and records can be made to fail.
struct FlakyLedger: ForwardingStore {
    let base: any Store
    let failures: Failures

    final class Failures: Sendable {
        private let left: Mutex<(claims: Int, records: Int)>

        let claimCode: StorageError.Code

        init(claims: Int = 0, claimCode: StorageError.Code = .unavailable, records: Int = 0) {
            left = Mutex((claims, records))
            self.claimCode = claimCode
        }

        /// How many more claims are to fail.
        var claimsLeft: Int { left.withLock { max(0, $0.claims) } }

        func takeClaim() -> Bool {
            left.withLock {
                $0.claims -= 1; return $0.claims >= 0
            }
        }
        func takeRecord() -> Bool {
            left.withLock {
                $0.records -= 1; return $0.records >= 0
            }
        }
    }

    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        if failures.takeClaim() { throw StorageError(failures.claimCode, "away for the test") }
        return try await base.begin(ids, now: now)
    }

    func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        if failures.takeClaim() { throw StorageError(failures.claimCode, "away for the test") }
        return try await base.claim(ids, first: first, now: now)
    }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        if failures.takeRecord() { throw StorageError(.unavailable, "away for the test") }
        return try await base.record(outcomes)
    }
}
