import Domain
import Foundations

/// The parts that matter here of the hub's response to any request.
struct HubResponse: Sendable, Equatable {
    var status: Int
    /// See ``HubMessageID``.
    var messageID: String?
    var retryAfter: String?
    /// The text of `SecurePush-Outcome`, which only SecurePush's own hub sends.
    var deviceOutcome: String?
    /// The text of `Date`, read from refusals (401) only.
    var date: String?
    /// The beginning of an error's body, at most ``HubResponse/maxBody`` bytes.
    var body: [UInt8] = []
    /// Whether the connection can take another request.
    var keepsAlive = true

    static let maxBody = 1024
}

/// The ID in a `Location` header: the last path segment before `?`.
///
/// `https://NS.servicebus.windows.net/HUB/messages/ID?api-version=V` on the Standard tier; other tiers send none.
enum HubMessageID {
    static func inLocation(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let start = path.lastIndex(of: UInt8(ascii: "/")).map(path.index(after:)) ?? path.startIndex
        let segment = path[start...]
        guard !segment.isEmpty, segment.count <= 255, segment.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: segment, as: UTF8.self)
    }
}

extension HubResponse {
    /// The meaning of the status, the same for all requests; `nil` if the hub accepted the request. The statuses are
    /// those that Microsoft documents for Notification Hubs ("REST API: error codes"), and every other success: a
    /// client may treat it as 200 (RFC 9110, section 15), and a push that was accepted must not be sent again. A 403
    /// has three meanings: no right, a feature that is not in this tier, and, in older API versions, throttling. As in
    /// Microsoft's own client for .NET, only `Retry-After` tells the last. 408 and 5xx may succeed later.
    ///
    /// Decision: docs/decisions/0031-one-table-of-the-hubs-answers.md
    var problem: PushGatewayError.Code? {
        switch status {
        case 200...299: nil
        case 401: .unauthorized
        case 403: retryAfter == nil ? .unauthorized : .throttled
        case 429: .throttled
        case 300...399, 400, 404, 405, 410, 411, 413, 415: .rejected
        default: .unavailable
        }
    }

    /// Whether the status is a success that Microsoft does not document for a send.
    var isOddSuccess: Bool { (202...299).contains(status) }

    /// The outcome of a send. A 404 to a send means that the hub itself does not exist: a tag without a device is not
    /// an error (the hub accepts the send).
    func outcome(now: Timestamp) -> SendOutcome {
        switch problem {
        case nil: .sent(hubMessageID: messageID, outcome: deviceOutcome.flatMap(MessageOutcome.init(text:)))
        case .throttled: .throttled(retryAfter: wait(now: now))
        case .unauthorized: .unauthorized(reason: reason)
        case .rejected where status == 404: .hubNotFound(reason: reason)
        case .rejected: .rejected(reason: reason, status: status)
        case .unavailable, .gone:
            .unavailable(reason: reason, retryAfter: wait(now: now), isAmbiguous: Self.gatewayStatuses.contains(status))
        }
    }

    /// A gateway before the hub may answer with these after it has forwarded the request (RFC 9110, 15.6.3 and 15.6.5).
    /// Some gateways answer 408 in place of 504.
    private static let gatewayStatuses: Set<Int> = [408, 502, 504]

    /// The error of a request other than a send; `nil` if the hub accepted it.
    func error(now: Timestamp) -> PushGatewayError? {
        problem.map { problem in
            // The hub names a time only for a condition that passes by itself.
            let isPassing = problem == .throttled || problem == .unavailable
            return PushGatewayError(
                problem, reason, retryAfter: isPassing ? wait(now: now) : nil,
                refusal: status == 400 || status == 413 ? untrackedDetail : nil)
        }
    }

    /// The hub's clock, if the response tells it.
    var hubTime: Timestamp? { date.flatMap { Timestamp(httpDate: $0) } }

    private func wait(now: Timestamp) -> Duration? {
        retryAfter.flatMap { Duration(retryAfter: $0, now: now) }
    }
}

extension HubResponse {
    /// `HTTP 400: DETAIL`, with the text of the error body's `<Detail>` if it has one.
    ///
    /// Reasons are stored and logged. So a body that is not the hub's XML (a proxy's page) is left out, and a detail
    /// ends where the name of a credential begins.
    var reason: String {
        guard let detail else { return "HTTP \(status)" }
        return "HTTP \(status): \(detail)"
    }

    /// The detail without the tracking ID and the time that end it; empty without one.
    private var untrackedDetail: String {
        guard let detail else { return "" }
        let end = detail.firstRange(of: "TrackingId:")?.lowerBound ?? detail.endIndex
        var text = detail[..<end]
        while let last = text.last, last == "." || last == " " { text.removeLast() }
        return String(text)
    }

    private static let maxDetail = 300
    private static let credentials = ["SharedAccessSignature", "SharedAccessKey", "sig=", "Authorization"]

    private var detail: String? {
        guard !body.isEmpty else { return nil }
        let text = String(decoding: body, as: UTF8.self)
        guard let start = text.firstRange(of: "<Detail>") else { return nil }
        // The body may have been cut within the element.
        let rest = text[start.upperBound...]
        var detail = XMLText.decode(String(rest.prefix { $0 != "<" })) ?? ""
        for credential in Self.credentials {
            if let found = detail.firstRange(of: credential) {
                detail.removeSubrange(found.lowerBound...)
                detail.append("…")
            }
        }
        detail.unicodeScalars.removeAll { $0.value < 0x20 || $0.value == 0x7F }
        return detail.isEmpty ? nil : String(detail.prefix(Self.maxDetail))
    }
}
