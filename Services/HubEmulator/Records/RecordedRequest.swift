import HTTPTypes

/// One request that crossed the hub, kept so that a person or a test can look at it.
///
/// Only what costs nothing is done when it is made; texts and warnings are derived when somebody looks.
struct RecordedRequest: Sendable {
    enum Kind: String, Sendable {
        case send, direct, batch, scheduled, test, register, unregister

        /// Whether it carries a notification.
        var isSend: Bool { self != .register && self != .unregister }
    }

    enum Outcome: String, Sendable {
        case completed = "Completed"
        case noTargetFound = "NoTargetFound"
        case scheduled = "Scheduled"
        case cancelled = "Cancelled"
        /// A fault refused it, or accepted it and lost it.
        case faulted = "Faulted"
    }

    /// How many results one record keeps; the counts are complete.
    static let maximumResults = 1000

    /// The hub's message ID, or the registration's ID. Empty for a send that the log has not named yet.
    var id: String
    let kind: Kind
    let hub: String
    let format: NotificationFormat?
    let tags: String?
    /// As sent, without the token.
    let headers: HTTPFields
    let body: [UInt8]
    let receivedAt: WireTime
    /// When the hub was done with it.
    var completedAt: WireTime?
    /// When a scheduled one is due.
    var dueAt: WireTime?
    /// What became of it at each device, bounded by ``maximumResults``.
    var results: [DeliveryResult] = []
    /// The same counted, complete.
    var outcomeCounts: [OutcomeCount] = []
    var outcome: Outcome = .completed
    /// Whether the hub took it. A send that was taken can still be lost, and its client can still be told otherwise.
    var isAccepted = true
    /// The status that the client was answered; nil when the connection was cut or the answer is the usual one.
    var status: Int?
    /// Whether the client got no answer at all.
    var isUnanswered = false
    /// The faults that were injected, in a few words.
    var fault: String?
    /// Their IDs.
    var faultIDs: [Int] = []
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
        var headers = headers
        headers[.authorization] = nil
        self.headers = headers
        self.body = body
        self.receivedAt = receivedAt
    }

    /// The request's `X-Request-Id`, if it had one.
    var requestID: String? { headers[HubHeaders.requestID] }

    /// The request's `TrackingId`, if it had one.
    var trackingID: String? { headers[HubHeaders.trackingID] }

    /// The devices that it was handed to.
    var deliveries: [String] {
        get { results.compactMap { $0.outcome == .success ? $0.handle : nil } }
        set {
            results = newValue.map {
                DeliveryResult(handle: $0, format: format ?? .template, outcome: .success)
            }
        }
    }

    /// About how much memory it holds.
    var byteCount: Int {
        400 + body.count + headers.byteCount + results.reduce(0) { $0 + 48 + $1.handle.utf8.count }
    }

    /// The status that the client saw.
    var answeredStatus: Int? {
        if isUnanswered { return nil }
        return status ?? (outcome == .faulted && !isAccepted ? nil : kind.isSend ? 201 : 200)
    }
}

extension HTTPFields {
    /// The values by the names as they were sent, those of a repeated field joined with a comma.
    var joined: [String: String] {
        reduce(into: [:]) { joined, field in
            let name = field.name.rawName
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
    }

    /// About how much memory they hold.
    var byteCount: Int { reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
