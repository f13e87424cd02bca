extension SendOutcome {
    /// The consequences of an outcome.
    package struct Meaning: Sendable {
        /// The name in metrics and logs.
        package var label: String
        /// The problem with the hub, the credentials or the connection; `nil` if there is none.
        package var problem: HubProblem?
        /// Whether it says nothing about the notification: the send is repeated and has used up no attempt.
        package var isHeld = false
        /// Whether the hub has accepted the send, or may have.
        package var mayHaveBeenAccepted = false
        /// How long the hub asked to wait.
        package var retryAfter: Duration?
        /// The text for the delivery's record.
        package var error: String?
    }

    package var meaning: Meaning {
        switch self {
        case .sent: Meaning(label: "sent", mayHaveBeenAccepted: true)
        case .throttled(let wait):
            Meaning(
                label: "throttled", problem: .throttled, isHeld: true, retryAfter: wait, error: "The hub throttles.")
        case .unavailable(let reason, let wait, let isAmbiguous):
            Meaning(
                label: "unavailable", problem: .failing, mayHaveBeenAccepted: isAmbiguous, retryAfter: wait,
                error: reason)
        case .notSent(let reason): Meaning(label: "not_sent", problem: .unreachable, isHeld: true, error: reason)
        case .unanswered(let reason):
            Meaning(label: "unanswered", problem: .silent, mayHaveBeenAccepted: true, error: reason)
        case .rejected(let reason, _): Meaning(label: "rejected", error: reason)
        case .unauthorized(let reason): Meaning(label: "unauthorized", problem: .refused, isHeld: true, error: reason)
        case .hubNotFound(let reason):
            Meaning(label: "hub_not_found", problem: .notFound, isHeld: true, error: reason)
        }
    }
}

/// Why a lane to the hub may have to pause.
package enum HubProblem: Sendable {
    case throttled, failing, silent
    /// No request reaches the hub: there is no connection.
    case unreachable
    /// The hub refused a token. It may just be old, unless the next one is refused too.
    case refused
    /// The credentials are wrong: no outcome says so by itself.
    case credentials
    /// The hub responded 404 to one send.
    case notFound
    /// The endpoint has no hub of that name: it responded 404 twice in a row.
    case noHub
}
