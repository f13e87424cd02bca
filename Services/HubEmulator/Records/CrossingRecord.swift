import HTTPTypes

/// One request that crossed the hub, kept so that a person or a test can look at it.
///
/// Only what costs nothing is done when it is made; texts and warnings are derived when somebody looks.
struct CrossingRecord: Sendable {
    enum Kind: String, Sendable {
        case send, direct, register, unregister
    }

    enum Outcome: String, Sendable {
        case completed = "Completed"
        case noTargetFound = "NoTargetFound"
        case faulted = "Faulted"
    }

    /// The hub's message ID, or the registration's ID.
    let id: String
    let kind: Kind
    let hub: String
    let format: NotificationFormat?
    let tags: String?
    /// As received, token included: left out when the record is shown.
    let headers: HTTPFields
    let body: [UInt8]
    let receivedAt: WireTime
    var deliveries: [String] = []
    var outcome: Outcome = .completed
    /// The fault that was injected, in a few words.
    var fault: String?
    /// The record's place in the log, from 1.
    var sequence = 0

    init(
        id: String, kind: Kind, hub: String, format: NotificationFormat?, tags: String?, headers: HTTPFields,
        body: [UInt8], receivedAt: WireTime
    ) {
        self.id = id
        self.kind = kind
        self.hub = hub
        self.format = format
        self.tags = tags
        self.headers = headers
        self.body = body
        self.receivedAt = receivedAt
    }
}
