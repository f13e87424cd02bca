/// What became of a notification at one device: the names that the service's telemetry has.
enum DeliveryOutcome: String, CaseIterable, Sendable {
    case success = "Success"
    case abandoned = "AbandonedNotificationMessages"
    case badChannel = "BadChannel"
    case channelDisconnected = "ChannelDisconnected"
    case channelThrottled = "ChannelThrottled"
    case dropped = "Dropped"
    case expiredChannel = "ExpiredChannel"
    case invalidCredentials = "InvalidCredentials"
    case invalidNotificationSize = "InvalidNotificationSize"
    case noTargets = "NoTargets"
    case pnsInterfaceError = "PnsInterfaceError"
    case pnsServerError = "PnsServerError"
    case pnsUnavailable = "PnsUnavailable"
    case pnsUnreachable = "PnsUnreachable"
    case skipped = "Skipped"
    case throttled = "Throttled"
    case unknownError = "UnknownError"
    case wrongToken = "WrongToken"

    /// The sentence that a debug send answers with. The first two are recorded from the real service.
    var sentence: String {
        switch self {
        case .success: "The Notification was successfully sent to the Push Notification System"
        case .badChannel, .expiredChannel, .wrongToken:
            "The Push Notification System handle for the registration is invalid"
        default: "The Push Notification System refused the notification: \(rawValue)"
        }
    }
}

/// What became of a notification at one device.
struct DeliveryResult: Sendable {
    let handle: String
    let format: NotificationFormat
    let outcome: DeliveryOutcome
}

/// How often one outcome occurred on one platform.
struct OutcomeCount: Equatable, Sendable {
    let format: NotificationFormat
    let outcome: DeliveryOutcome
    var count: Int
}

extension [OutcomeCount] {
    /// Counts one more. There are few kinds in one send, so a list is searched faster than a dictionary.
    mutating func count(_ format: NotificationFormat, _ outcome: DeliveryOutcome) {
        if let index = firstIndex(where: { $0.outcome == outcome && $0.format == format }) {
            self[index].count += 1
        } else {
            append(OutcomeCount(format: format, outcome: outcome, count: 1))
        }
    }
}
