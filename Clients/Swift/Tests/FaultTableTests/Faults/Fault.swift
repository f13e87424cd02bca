/// A fault that the test injects.
enum Fault: Hashable, Sendable, CustomStringConvertible {
    case none
    // The network.
    case connectionRefused, timeout, tlsFailure, slowBody
    // The server's answers.
    case redirect, tenMegabytes, wrongJSON, wrongID, unauthorizedAfterRefresh
    case status(Int, retryAfter: Int?)
    case proxy(Int)
    // The device.
    case storeFull, storeCorrupt, storeReadOnly, locked, clockForward, clockBack, presenterRefuses
    case storeHangs, storeThrows, presenterHangs
    // The push network.
    case hostilePush

    static let all: [Fault] = [
        .none, .connectionRefused, .timeout, .tlsFailure, .redirect, .tenMegabytes, .wrongJSON, .wrongID,
        .status(401, retryAfter: nil), .unauthorizedAfterRefresh, .status(403, retryAfter: nil),
        .status(404, retryAfter: nil), .status(408, retryAfter: nil), .status(410, retryAfter: nil),
        .status(429, retryAfter: 1), .status(429, retryAfter: 3_600), .status(500, retryAfter: nil),
        .status(503, retryAfter: nil), .slowBody, .storeFull, .storeCorrupt, .storeReadOnly, .locked, .clockForward,
        .clockBack, .hostilePush, .presenterRefuses, .proxy(200), .proxy(400), .proxy(401), .proxy(404), .storeHangs,
        .storeThrows, .presenterHangs,
    ]

    /// Whether the answer says that the user has no such notification. The client then stops for good.
    var meansGone: Bool {
        switch self {
        case .status(403, _), .status(404, _), .status(410, _): true
        default: false
        }
    }

    var description: String {
        switch self {
        case .none: "no fault"
        case .connectionRefused: "connection refused"
        case .timeout: "timeout"
        case .tlsFailure: "TLS failure"
        case .slowBody: "slow body"
        case .redirect: "redirect"
        case .tenMegabytes: "10 MB answer"
        case .wrongJSON: "wrong JSON"
        case .wrongID: "wrong ID"
        case .unauthorizedAfterRefresh: "401 after refresh"
        case .status(429, let seconds?): "429 for \(seconds) s"
        case .status(let status, _): "\(status)"
        case .storeFull: "store full"
        case .storeCorrupt: "store corrupt"
        case .storeReadOnly: "store read-only"
        case .locked: "locked device"
        case .clockForward: "clock forward"
        case .clockBack: "clock back"
        case .presenterRefuses: "presenter refuses"
        case .hostilePush: "hostile push"
        case .proxy(let status): "\(status) of a proxy"
        case .storeHangs: "store hangs"
        case .storeThrows: "store throws"
        case .presenterHangs: "presenter hangs"
        }
    }
}

/// Where it begins to go wrong.
enum Stage: String, CaseIterable, Sendable, CustomStringConvertible {
    case parse, verify, token, fetch, refresh, inbox, markShown, keys, store, present, timeWillExpire, resume

    var description: String { rawValue }
}

/// The duration of a fault.
enum FaultLength: String, CaseIterable, Sendable {
    /// Only the first time at the stage.
    case once
    /// From the stage to the end of the wake.
    case lasting
}
