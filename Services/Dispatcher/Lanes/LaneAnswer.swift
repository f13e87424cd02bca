import SecurePushCore

/// Why and for how long a lane does not send.
struct LaneHold: Sendable, Equatable {
    /// What ails the lane, for the record of the delivery.
    var reason: String
    /// Until the lane is looked at again; none where it is only behind.
    var pause: Duration
    /// How many sends the lane has held in this second, this one included: the more, the later they come back.
    var crowd: Int
}

/// What a lane says to one send.
enum LaneAnswer: Sendable, Equatable {
    /// The hub's answer; with a hold where it says nothing about the notification and is to be repeated later.
    case answered(SendOutcome, hold: LaneHold?)
    /// It was not sent, and nothing is known against it.
    case held(LaneHold)

    /// The word for it in logs.
    var label: String {
        switch self {
        case .answered(let outcome, _): outcome.label
        case .held: "held"
        }
    }
}

/// One send on its way through a lane.
struct LaneSend: Sendable {
    var notification: HubNotification
    var attempt: DispatchAttempt
    /// The place of the platform in the attempt.
    var index: Int
}
