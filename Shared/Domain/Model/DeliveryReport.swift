import Foundations

/// A delivery in a body of JSON: in the status of a notification, in its timeline, and beside its dead letter.
package struct DeliveryReport: Codable, Sendable, Equatable {
    package var platform: String
    package var state: String
    package var attempts: Int
    /// Requests whose result is unknown; `nil` where only a sender reads it.
    package var unanswered: Int?
    package var hubMessageId: String?
    /// The outcome of the message by the hub's report.
    package var outcome: String?
    package var coalescedInto: String?
    package var error: String?
    package var updatedAt: String
    package var withdrawn: String?

    package init(_ delivery: Delivery, tellsUnanswered: Bool) {
        (platform, state, attempts) = (delivery.platform.rawValue, delivery.state.rawValue, delivery.attempts)
        unanswered = tellsUnanswered ? delivery.unanswered : nil
        (hubMessageId, outcome, error) = (delivery.hubMessageID, delivery.outcome, delivery.error)
        coalescedInto = delivery.coalescedInto?.description
        (updatedAt, withdrawn) = (delivery.updatedAt.description, delivery.withdrawnAt?.description)
    }
}
