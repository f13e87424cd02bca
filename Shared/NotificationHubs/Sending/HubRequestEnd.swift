/// How a request to the hub ended, in the few words that metrics tell it by.
enum HubRequestEnd: Hashable {
    /// The hub answered.
    case status(Int)
    /// No answer in time, or no connection free in time.
    case timeout
    /// The connection broke, could not be made, or carried no HTTP answer.
    case connection
    /// This process is stopping.
    case shutdown
    /// It was never written, for it would have been no valid request.
    case invalid

    /// The label `code` of `securepush_hub_request_duration_seconds`.
    var code: String {
        switch self {
        case .status(let status): "\(status)"
        case .timeout: "timeout"
        case .connection: "connection"
        case .shutdown: "shutdown"
        case .invalid: "invalid"
        }
    }

    /// The label `reason` of `securepush_dispatch_attempts_total`.
    var reason: String {
        switch self {
        case .status(200), .status(201): "none"
        case .status(let status): "http_\(status)"
        case .timeout, .connection, .shutdown, .invalid: code
        }
    }
}
