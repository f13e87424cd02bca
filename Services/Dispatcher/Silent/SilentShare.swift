import Domain
import Foundations

/// The part of one platform of an attempt in its recipient's budget of silent pushes.
enum SilentRole: Sendable {
    /// The budget does not apply: send it.
    case free
    /// Send it. It uses up the recipient's push, which the followers share.
    case leads(SilentPushGrant, followers: [SilentFollower])
    /// Do not send it: the leader's answer decides.
    case follows
    /// Do not send it: this is its answer.
    case answered(LaneAnswer)
}

/// A notification that shares the silent push of a newer one, which the same dispatcher has claimed with it.
struct SilentFollower: Sendable {
    var attempt: DispatchAttempt
    /// The index of the platform in the attempt.
    var index: Int
}

/// How long a notification waits for the recipient's next silent push.
struct SilentWait: Sendable, Hashable {
    /// When it asks again.
    var until: Timestamp
    /// The recipient's number of silent pushes now; see ``SilentPushRequest/sequence``.
    var sequence: Int64?

    /// The reason in the record of the delivery.
    static let reason = "It waits for the recipient's next silent push (SILENT_PUSH_MIN_INTERVAL)."
}

/// The platforms of an attempt that wait for the recipient's next silent push.
struct WaitingPlatforms {
    private(set) var platforms: [Platform] = []
    /// When the first of them asks again; `nil` if there is none.
    private(set) var until: Timestamp?

    mutating func add(_ platform: Platform, until time: Timestamp) {
        platforms.append(platform)
        until = min(until ?? time, time)
    }
}

extension LaneAnswer {
    /// Whether the hub has accepted the push, or may have.
    var mayHaveBeenPushed: Bool {
        switch self {
        case .answered(let outcome, _): outcome.meaning.mayHaveBeenAccepted
        case .coalesced: true
        case .held, .waits: false
        }
    }

    /// The answer to those that share a push, after the leader's.
    ///
    /// - Parameters:
    ///   - leader: the notification that the push names.
    ///   - grant: the push.
    func shared(with leader: NotificationID, _ grant: SilentPushGrant?, now: Timestamp) -> LaneAnswer {
        switch self {
        case .answered(.sent, _): .coalesced(into: leader)
        case .held(let hold), .answered(_, .some(let hold)): .held(hold)
        // The followers were claimed before the push, so it covers them if the hub has accepted it after all.
        default: .waits(SilentWait(until: now + SilentBudget.failureWait, sequence: grant.map { $0.sequence - 1 }))
        }
    }
}

extension DispatchPlan {
    /// Whether it withdraws a notification; its signature says so.
    var isWithdrawal: Bool { work == .withdrawal }

    /// Whether its pushes count towards `SILENT_PUSH_MIN_INTERVAL`.
    var isSilentPush: Bool { presentation == .silent && !isWithdrawal }

    /// Whether it repeats a push that was accepted before.
    var isReminder: Bool {
        if case .reminder = work { true } else { false }
    }

    /// The request for a push on one platform.
    func silentRequest(for platform: Platform) -> SilentPushRequest {
        SilentPushRequest(
            key: SilentPushKey(recipient: recipient, platform: platform), id: id,
            sequence: deliveries.first { $0.platform == platform }?.silentSequence, isReminder: isReminder)
    }
}
