import Domain
import Foundations
import HTTPTypes

/// A fault to inject: which requests it hits, and what happens to them.
struct Fault: Equatable, Sendable {
    /// The operations of requests, by which faults select them.
    enum Operation: String, CaseIterable, Sendable {
        /// All kinds of sends in a fault; a plain or debug send in a request.
        case send
        case direct, batch, schedule, cancel
        case register
        case installation, hub, telemetry

        /// Reads the member of a fault; `registration` means `register`.
        init?(member: String) {
            let name = member.lowercased()
            self.init(rawValue: name == "registration" ? "register" : name)
        }

        /// Whether a fault with this operation hits requests of the other one.
        func covers(_ other: Operation) -> Bool {
            self == other || (self == .send && [.direct, .batch, .schedule].contains(other))
        }
    }

    /// The response that the client gets.
    enum Answer: Equatable, Sendable {
        /// The response without the fault.
        case usual
        case status(Int)
        /// The connection is cut.
        case reset
        /// The connection is cut after this time without a response.
        case silence(milliseconds: Int)
    }

    /// The number in the fault table.
    var id = 0

    // Which requests.

    /// Nil: all platforms.
    var platform: NotificationFormat?
    /// Nil: all operations.
    var operation: Operation?
    /// In lower case: hits sends with the tag in their expression, and registrations with the tag. Nil: all.
    var tag: String?
    /// The share of requests, 0 to 1.
    var rate = 1.0
    /// The remaining number of requests; nil: no limit.
    var count: Int?
    /// The delay of the start.
    var startMilliseconds = 0
    /// The duration after the start; nil: no end.
    var durationMilliseconds: Int?
    /// Makes the draws of `rate` repeatable.
    var seed: UInt64?

    // The effects.

    var latencyMilliseconds = 0
    var answer = Answer.usual
    /// Whether the hub accepts the request before the response fails.
    var isAccepted = false
    /// Whether the notification is accepted, answered as usual, and lost.
    var isSwallowed = false
    /// The outcome at the devices instead of success; the notification is not delivered.
    var outcome: DeliveryOutcome?
    /// Seconds of the `Retry-After` header; nil: none.
    var retryAfter: Int?
    /// Refuses the sends above a tier's rate.
    var tier: ThrottleTier?

    /// The number of requests that it has hit.
    var hits = 0

    func applies(to operation: Operation, platform: NotificationFormat?, tags: () -> [String]) -> Bool {
        (self.operation?.covers(operation) ?? true) && (self.platform == nil || self.platform == platform)
            && (tag.map { tags().contains($0) } ?? true)
    }

    /// Whether it decides the response, so that no second fault can.
    var decidesAnswer: Bool { answer != .usual }
    /// Whether it decides the outcome of the notification.
    var decidesFate: Bool { isSwallowed || outcome != nil }

    /// The error of its response; nil for a response that is not an error of the hub.
    var error: HubError? {
        guard case .status(let status) = answer else { return nil }
        return HubError(.init(code: status), detail: Self.detail(of: status), retryAfterSeconds: retryAfter)
    }

    private static func detail(of status: Int) -> String? {
        switch status {
        case 401: TokenFault.invalidSignature.detail
        case 403: nil
        case 404: HubError.unknownHub.detail
        case 410: "The registration id cannot be used any more."
        case 412: HubError.entityTagMismatch.detail
        case 413: HubError.bodyTooLarge.detail
        case 429: "The request was throttled. SubCode=42901."
        case 500: HubError.internalError.detail
        case 503: HubError.stopping.detail
        default: "A fault of status \(status) was injected."
        }
    }

    /// Its response in a few words, which records show as `Fault`; clients compare them.
    var words: String {
        let response =
            switch answer {
            case .usual: "answer as usual"
            case .status(let status): "\(status)" + (retryAfter.map { ", Retry-After \($0)" } ?? "")
            case .reset: "connection cut"
            case .silence: "no answer"
            }
        return response + (isAccepted ? " after accepting" : "")
    }

    /// The fault in the emulator's own API.
    var json: JSONValue {
        var status: Int?
        if case .status(let code) = answer { status = code }
        var timeout: Int?
        if case .silence(let milliseconds) = answer { timeout = milliseconds }
        return JSONValue([
            "Accept": isAccepted ? .boolean(true) : nil,
            "AtMs": startMilliseconds > 0 ? .integer(startMilliseconds) : nil,
            "Count": .integer(count),
            "ForMs": .integer(durationMilliseconds),
            "Hits": .integer(hits),
            "Id": .integer(id),
            "LatencyMs": .integer(latencyMilliseconds),
            "Operation": .optional(operation?.rawValue),
            "Outcome": .optional(outcome?.rawValue),
            "Platform": .optional(platform?.rawValue),
            "Rate": .number(rate == 1 ? "1" : rate == 0 ? "0" : "\(rate)"),
            "Reset": .boolean(answer == .reset),
            "RetryAfter": .integer(retryAfter),
            "Seed": .integer(seed),
            "Status": .integer(status),
            "Swallow": isSwallowed ? .boolean(true) : nil,
            "Tag": .optional(tag),
            "Tier": .optional(tier?.rawValue),
            "TimeoutMs": .integer(timeout),
            "Words": .string(words),
        ])
    }
}
