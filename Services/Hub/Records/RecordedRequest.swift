import Domain
import Foundation
import Foundations
import HTTPTypes

/// One request to a hub, kept for people and tests. Texts and warnings are made when a client reads it.
struct RecordedRequest: Sendable {
    enum Kind: String, Sendable {
        case send, direct, batch, scheduled, test, register, unregister

        /// Whether it contains a notification.
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

    /// The maximum number of results of one record; the counts are complete.
    static let maxResults = 1000

    /// The hub's message ID, or the registration's ID.
    let id: String
    let kind: Kind
    let hub: String
    let format: NotificationFormat?
    let tags: String?
    /// As received, without the token.
    let headers: HTTPFields
    let body: [UInt8]
    let receivedAt: Timestamp
    /// When the hub had processed it.
    var completedAt: Timestamp?
    /// The time of a scheduled send.
    var dueAt: Timestamp?
    /// The result at each device, at most ``maxResults``.
    private(set) var results: [DeliveryResult] = []
    /// The number of results by outcome, complete.
    private(set) var outcomeCounts: [DeliveryOutcome: Int] = [:]
    var outcome: Outcome = .completed
    /// Whether the hub accepted it. An accepted send can still be lost, and its client can get another answer.
    private(set) var isAccepted = true
    /// The status of an injected response; nil when the connection was cut or the response is the usual one.
    private var injectedStatus: Int?
    /// Whether the client got no response at all.
    private(set) var isUnanswered = false
    /// The injected faults in a few words.
    private var fault: String?
    /// The IDs of the injected faults.
    private var faultIDs: [Int] = []
    /// The record's place in the log, from 1.
    var sequence = 0

    init(
        id: String, kind: Kind, hub: String, format: NotificationFormat?, tags: String?, headers: HTTPFields,
        body: [UInt8], receivedAt: Timestamp
    ) {
        var headers = headers
        headers[.authorization] = nil
        self.id = id
        self.kind = kind
        self.hub = hub
        self.format = format
        self.tags = tags
        self.headers = headers
        self.body = body
        self.receivedAt = receivedAt
    }

    /// The handles of the devices that it was delivered to.
    var deliveries: [String] { results.compactMap { $0.outcome == .success ? $0.handle : nil } }

    /// Notes the result at one device.
    mutating func add(_ result: DeliveryResult) {
        outcomeCounts[result.outcome, default: 0] += 1
        if results.count < Self.maxResults { results.append(result) }
    }

    /// Notes the faults of the request, and the response that they decide.
    mutating func note(_ effect: FaultEffect) {
        fault = effect.words
        faultIDs = effect.faultIDs
        switch effect.fault?.answer {
        case .status(let status): injectedStatus = status
        case .reset, .silence: isUnanswered = true
        case .usual, nil: break
        }
        guard effect.refuses else { return }
        isAccepted = false
        outcome = .faulted
    }

    /// Takes over the outcome of a send that was scheduled.
    mutating func complete(as delivered: RecordedRequest) {
        results = delivered.results
        outcomeCounts = delivered.outcomeCounts
        outcome = delivered.outcome
        completedAt = delivered.completedAt
    }

    /// The approximate memory, in bytes.
    var byteCount: Int {
        400 + body.count + headers.byteCount + results.reduce(0) { $0 + 48 + $1.handle.utf8.count }
    }

    /// The status of the response; nil when the client got none.
    var status: Int? {
        if isUnanswered { return nil }
        return injectedStatus ?? (outcome == .faulted && !isAccepted ? nil : kind.isSend ? 201 : 200)
    }

    /// Objections of the platform's push service.
    private var warnings: [String] {
        guard let format, kind.isSend else { return [] }
        var lowered: [String: String] = [:]
        for field in headers { lowered[field.name.canonicalName] = field.value }
        return PlatformRules.warnings(format: format, headers: lowered, body: body)
    }

    /// The record in the emulator's own API.
    var json: JSONValue {
        let isText = String(validating: body, as: UTF8.self) != nil
        return JSONValue([
            "Accepted": .boolean(isAccepted),
            "AcceptedAt": isAccepted ? .string(receivedAt.description) : nil,
            "Body": .string(String(decoding: body, as: UTF8.self)),
            "BodyBase64": isText ? nil : .string(Data(body).base64EncodedString()),
            "CompletedAt": .optional(completedAt?.description),
            "Deliveries": JSONValue(strings: deliveries),
            "DueAt": .optional(dueAt?.description),
            "Fault": .optional(fault),
            "FaultIds": faultIDs.isEmpty ? nil : .array(faultIDs.compactMap { .integer($0) }),
            "Headers": JSONValue(headers.joined, JSONValue.string),
            "Hub": .string(hub),
            "Id": .string(id),
            "Kind": .string(kind.rawValue),
            "Outcome": .string(outcome.rawValue),
            "Outcomes": kind.isSend ? JSONValue(outcomesByName) { .number("\($0)") } : nil,
            "Platform": .optional(format?.rawValue),
            "ReceivedAt": .string(receivedAt.description),
            "RequestId": .optional(headers[HubHeaders.requestID]),
            "Results": kind.isSend ? .array(results.map(\.json)) : nil,
            "Sequence": .integer(sequence),
            "Status": .integer(status),
            "Tags": .optional(tags),
            "TrackingId": .optional(headers[HubHeaders.trackingID]),
            "Warnings": JSONValue(strings: warnings),
        ])
    }

    /// ``outcomeCounts`` by the names of the outcomes.
    var outcomesByName: [String: Int] {
        Dictionary(uniqueKeysWithValues: outcomeCounts.map { ($0.rawValue, $1) })
    }
}

/// The outcome of a notification at one device, by its name in the service's telemetry.
enum DeliveryOutcome: String, CaseIterable, Sendable {
    case success = "Success"
    case abandoned = "AbandonedNotificationMessages"
    /// Tried again until it expired, or for as long as the hub does.
    case abandonedNotification = "AbandonedNotification"
    case badChannel = "BadChannel"
    case channelDisconnected = "ChannelDisconnected"
    case channelThrottled = "ChannelThrottled"
    case dropped = "Dropped"
    case expiredChannel = "ExpiredChannel"
    case invalidCredentials = "InvalidCredentials"
    case invalidNotificationFormat = "InvalidNotificationFormat"
    case invalidNotificationSize = "InvalidNotificationSize"
    case noTargets = "NoTargets"
    case pnsCredentialError = "PnsCredentialError"
    case pnsInterfaceError = "PnsInterfaceError"
    case pnsServerError = "PnsServerError"
    case pnsUnavailable = "PnsUnavailable"
    case pnsUnreachable = "PnsUnreachable"
    case skipped = "Skipped"
    case throttled = "Throttled"
    /// The push is in flight. Azure has no such outcome.
    case unknown = "Unknown"
    case unknownError = "UnknownError"
    case wrongToken = "WrongToken"

    /// The outcomes that one try at a push service can have.
    static let ofPushServices: [DeliveryOutcome] = [
        .success, .badChannel, .channelThrottled, .dropped, .expiredChannel, .invalidNotificationFormat,
        .invalidNotificationSize, .pnsCredentialError, .pnsServerError, .pnsUnreachable, .throttled, .wrongToken,
    ]

    /// The sentence in the response to a debug send. The first two are recorded from the real service.
    var sentence: String {
        switch self {
        case .success: "The Notification was successfully sent to the Push Notification System"
        case .badChannel, .expiredChannel, .wrongToken:
            "The Push Notification System handle for the registration is invalid"
        case .unknown: "The Notification will be sent to the Push Notification System again"
        default: "The Push Notification System refused the notification: \(rawValue)"
        }
    }
}

/// The result of a notification at one device.
struct DeliveryResult: Sendable {
    let handle: String
    let format: NotificationFormat
    let outcome: DeliveryOutcome

    fileprivate var json: JSONValue {
        JSONValue([
            "Handle": .string(handle), "Outcome": .string(outcome.rawValue), "Platform": .string(format.rawValue),
        ])
    }
}

extension HTTPFields {
    /// The values by the names as received, those of a repeated field joined with a comma.
    var joined: [String: String] {
        reduce(into: [:]) { joined, field in
            let name = field.name.rawName
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
    }

    /// The approximate memory, in bytes.
    var byteCount: Int { reduce(0) { $0 + 64 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
