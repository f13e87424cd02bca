import Foundations
import HTTPTypes

/// A send that waits for its time.
struct ScheduledSend: Sendable {
    let id: String
    let hub: String
    let format: NotificationFormat
    let tags: String?
    let headers: HTTPFields
    let body: [UInt8]
    let dueAt: Timestamp
    /// The effect of a fault, which was decided when the send was accepted.
    var fate: FaultEffect.Fate?
    /// The place of its record in the log; 0 after a restart.
    var sequence = 0
    /// The registrations up to this place have their pushes: a process delivered them, and ended.
    var place: Int64 = 0

    /// The hub's name in lower case.
    var hubKey: String { hub.lowercased() }
}
