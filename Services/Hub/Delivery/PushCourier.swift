import Foundations
import Logging
import PushServices
import Storage

/// The result of one try of a push.
enum PushVerdict: Sendable {
    case over(DeliveryOutcome)
    case again(PushAgain)
}

/// A push that is to be tried again.
struct PushAgain: Sendable {
    /// Why; `nil` if the push only waits for its turn.
    var cause: PushCircuit.Cause?
    var after: Duration
    /// Whether it was tried. A paused lane tries nothing.
    var isTried: Bool
    /// Whether the push service was reached, and failed (5xx) or gave no answer.
    var wasReached = false

    static let notTried = PushAgain(after: .zero, isTried: false)
}

/// Pushes to one device, and decides by the answer.
struct PushCourier: Sendable {
    let lanes: PushLanes
    let settings: DeliverySettings
    let clock: DeliveryClock
    /// Pushes to a simulated device.
    let simulate: @Sendable (Push) -> Void
    /// Takes a device that its push service no longer accepts, or a decision about such devices.
    let bury: @Sendable (DeviceRemoval) -> Void
    /// Takes a key with which a push was accepted, if it is another one than before.
    let remember: @Sendable (HubPushKey) -> Void

    /// - Parameter begin: see ``PushLane/push(_:begin:)``.
    func deliver(_ push: Push, begin: @Sendable () -> Bool = { true }) async -> PushVerdict {
        guard push.giveUpAt(settings) > clock.now() else { return .over(.abandonedNotification) }
        guard let lane = lanes.lane(push.lane) else { return .over(.pnsCredentialError) }
        if lane.isSimulated || push.request.address.isOfTrial && lanes.isTrial(push.lane.hub) {
            simulate(push)
            return .over(.success)
        }
        switch await lane.push(push.request, begin: begin) {
        case .missing: return .over(.pnsCredentialError)
        case .notTried: return .again(.notTried)
        case .held(let cause, let rest):
            let age = clock.now() - push.sentAt
            let wait = lane.isShared ? RetryWait.whileHeld(rest, age: age) : rest
            return .again(PushAgain(cause: cause, after: wait + RetryWait.shortest, isTried: false))
        case .answered(let result, let removals):
            if result.answer == .accepted, result.keyUsed != push.request.keyHint, push.registrationID != nil {
                remember(HubPushKey(hub: push.lane.hub, handle: push.handle, key: result.keyUsed))
            }
            let verdict = verdict(result.answer, of: push, lane.platform, removals)
            if removals.hasTurned { bury(.decided(lane.key)) }
            return verdict
        }
    }

    private func verdict(
        _ answer: PushAnswer, of push: Push, _ platform: NotificationFormat, _ removals: PushLane.Removals
    ) -> PushVerdict {
        if let cause = answer.cause {
            var wait = RetryWait.duration(afterAttempt: push.attempt + 1, of: platform, asked: answer.wait)
            if cause == .credentials { wait = max(wait, PushCircuit.credentialsInterval) }
            if cause == .device { wait = max(wait, RetryWait.shortestOfDevice) }
            let wasReached = cause == .unreachable && answer != .unreachable
            return .again(PushAgain(cause: cause, after: wait, isTried: true, wasReached: wasReached))
        }
        switch answer {
        case .gone(let since): bury(.gone(DeadDevice(push, answer.outcome, before: since ?? push.sentAt)))
        case .wrongAddress, .wrongSender:
            // Without the removal there is no feedback either, because clients would remove their copies of the device.
            if removals.areAllowed { bury(.wrong(DeadDevice(push, answer.outcome, before: push.sentAt))) }
        default: break
        }
        return .over(answer.outcome)
    }
}

/// The actions about devices, in this order: a decision before a removal applies to it.
enum DeviceRemoval: Sendable {
    case gone(DeadDevice)
    /// Its address is wrong. It stays if any process has stopped such removals.
    case wrong(DeadDevice)
    /// Too many addresses are wrong, or no longer too many.
    case decided(HubLaneKey)
    /// Reads the decisions of other processes.
    case look
}

/// A device that its push service no longer accepts.
struct DeadDevice: Sendable {
    var feedback: HubFeedbackRow
    /// Its registrations are removed unless they were written at this time or later.
    var removedBefore: Timestamp

    init(_ push: Push, _ outcome: DeliveryOutcome, before time: Timestamp, now: Timestamp = .now) {
        feedback = HubFeedbackRow(
            hub: push.lane.hub, notedAt: now, error: outcome.rawValue, platform: push.lane.platform,
            handle: push.handle, registrationID: push.registrationID, installationID: push.installationID,
            messageID: push.messageID)
        removedBefore = time
    }
}
