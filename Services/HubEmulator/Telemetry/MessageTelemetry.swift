/// What became of one send, for `GET /{hub}/messages/{id}`.
struct MessageTelemetry: Sendable {
    /// The states that the service names.
    enum State: String, Sendable {
        case enqueued = "Enqueued"
        case processing = "Processing"
        case completed = "Completed"
        case noTargetFound = "NoTargetFound"
        case abandoned = "Abandoned"
        case scheduled = "Scheduled"
        /// Java and Go read one `l`, .NET and JavaScript two; the service's own spelling is not recorded.
        case cancelled = "Cancelled"
        case unknown = "Unknown"
    }

    let id: String
    var state: State
    var enqueuedAt: WireTime
    var startedAt: WireTime?
    var endedAt: WireTime?
    var body: [UInt8]
    /// The tag expression as sent.
    var tags: String?
    /// The platforms that were hit.
    var targetPlatforms: [NotificationFormat]
    /// How many devices met which outcome, by platform and the service's name of the outcome (`Success`,
    /// `BadChannel`, …).
    var outcomes: [NotificationFormat: [String: Int]]
}

/// Where telemetry comes from: the log of what crossed the hub.
protocol MessageTelemetrySource: Sendable {
    /// - Parameter hubKey: the hub's name in lower case.
    /// - Returns: nil when no send of this ID is known.
    func telemetry(of messageID: String, hubKey: String) -> MessageTelemetry?
}
