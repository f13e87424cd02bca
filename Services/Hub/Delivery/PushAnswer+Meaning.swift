import PushServices

extension PushAnswer {
    /// Why the push is tried again; `nil` if the answer is final.
    var cause: PushCircuit.Cause? {
        switch self {
        case .accepted, .dropped, .channelThrottled, .gone, .wrongAddress, .notAllowed, .wrongSender, .tooLarge,
            .invalid:
            nil
        case .credentialRefused, .channelRefused: .credentials
        case .throttled: .throttled
        case .deviceThrottled: .device
        case .failed, .unreachable, .unanswered: .unreachable
        }
    }

    /// How long the push service asked to wait.
    var wait: Duration? {
        switch self {
        case .throttled(let wait), .deviceThrottled(let wait), .failed(let wait): wait
        default: nil
        }
    }

    /// The outcome by Azure's name. If the push is tried again, the outcome is only for metrics and logs.
    var outcome: DeliveryOutcome {
        switch self {
        case .accepted: .success
        case .dropped: .dropped
        case .channelThrottled: .channelThrottled
        case .gone: .expiredChannel
        case .wrongAddress, .notAllowed: .badChannel
        case .wrongSender: .wrongToken
        case .throttled, .deviceThrottled: .throttled
        case .failed: .pnsServerError
        case .unreachable, .unanswered: .pnsUnreachable
        case .credentialRefused, .channelRefused: .pnsCredentialError
        case .tooLarge: .invalidNotificationSize
        case .invalid: .invalidNotificationFormat
        }
    }

    /// Whether the address is for another app, environment or sender, so that many such answers may mean that the
    /// credentials are wrong.
    var isWrongAddress: Bool { self == .wrongAddress || self == .wrongSender }

    /// Whether the answer is about the device. The ``RemovalGuard`` counts these answers.
    var isAboutDevice: Bool {
        switch self {
        case .accepted, .dropped, .channelThrottled, .deviceThrottled, .gone, .wrongAddress, .wrongSender: true
        case .notAllowed, .throttled, .failed, .unreachable, .unanswered, .credentialRefused, .channelRefused,
            .tooLarge, .invalid:
            false
        }
    }
}
