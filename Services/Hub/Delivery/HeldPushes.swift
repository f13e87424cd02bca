import Foundations
import HTTPTypes

/// Pushes of a send that were throttled or did not reach their push service. If this is true for all pushes of the
/// send, the hub refuses the send and stores nothing, because the caller tries again (K3).
struct HeldPushes: Sendable {
    /// The most pushes that a send holds. At this number it is refused, and no further devices are read.
    static let limit = 5000

    private(set) var pushes: [Push] = []
    /// When each push is due again if it has to be stored.
    private(set) var dueTimes: [Timestamp] = []
    private var isThrottled = false
    private var wait = Duration.zero

    init() {}

    /// `nil` if one of the pushes has ended, is in flight, or has to be tried again for another reason. Then no push is
    /// held.
    init?(_ pushes: [Push], _ stages: [PushBatch.Stage], now: Timestamp) {
        for (push, stage) in zip(pushes, stages) {
            guard case .ended(.again(let again)) = stage, let cause = again.cause,
                ![.credentials, .device].contains(cause), !again.wasReached
            else { return nil }
            self.pushes.append(push.tried(again))
            dueTimes.append(now + again.after)
            if cause == .throttled { isThrottled = true }
            wait = max(wait, again.after)
        }
    }

    mutating func add(_ others: HeldPushes) {
        pushes += others.pushes
        dueTimes += others.dueTimes
        isThrottled = isThrottled || others.isThrottled
        wait = max(wait, others.wait)
    }

    /// The answer to the send: 429 or 503 with `Retry-After`.
    var refusal: HubError {
        isThrottled ? .pushServiceThrottles(after: wait) : .pushServiceUnreachable(after: wait)
    }
}

extension HubError {
    static func pushServiceThrottles(after wait: Duration) -> HubError {
        HubError(
            .tooManyRequests, detail: "The push service throttles. Nothing of the send was kept.",
            retryAfterSeconds: seconds(wait))
    }

    static func pushServiceUnreachable(after wait: Duration) -> HubError {
        HubError(
            .serviceUnavailable, detail: "The push service cannot be reached. Nothing of the send was kept.",
            retryAfterSeconds: seconds(wait))
    }

    static let storeUnavailable = HubError(
        .serviceUnavailable, detail: "The hub cannot store the notification at the moment.", retryAfterSeconds: 5)

    /// Whole seconds, rounded up, at least 1 and at most an hour.
    private static func seconds(_ wait: Duration) -> Int {
        let (seconds, rest) = wait.components
        return Int(min(max(seconds + (rest > 0 ? 1 : 0), 1), 3600))
    }
}
