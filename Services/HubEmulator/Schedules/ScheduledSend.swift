import HTTPTypes

/// A notification that waits for its time.
struct ScheduledSend: Sendable {
    let id: String
    /// The hub's name in lower case.
    let hubKey: String
    let hub: String
    let format: NotificationFormat
    let tags: String?
    let headers: HTTPFields
    let body: [UInt8]
    let dueAt: WireTime
    /// What a fault decided when it was taken.
    var fate: FaultEffect.Fate?
    /// The place of its record in the log; 0 when it was brought back after a restart.
    var sequence = 0

    /// About how much memory it holds.
    var byteCount: Int { 400 + body.count + headers.byteCount + (tags?.utf8.count ?? 0) }
}
