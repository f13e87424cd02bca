import Foundations
import Hummingbird
import Storage

/// The result of one send, for `GET /{hub}/messages/{id}`.
struct MessageTelemetry: Sendable {
    /// The service's states of a send.
    enum State: String, Sendable {
        case processing = "Processing"
        case completed = "Completed"
        case noTargetFound = "NoTargetFound"
        case scheduled = "Scheduled"
        /// Java and Go read one `l`, .NET and JavaScript two; the service's own spelling is not recorded.
        case cancelled = "Cancelled"
    }

    let id: String
    let state: State
    let enqueuedAt: Timestamp
    /// The start and end of the processing.
    var completedAt: Timestamp?
    let body: [UInt8]
    /// The tag expression as received.
    var tags: String?
    /// The number of devices by platform and the service's name of the outcome (`Success`, `BadChannel`, …).
    let outcomes: [NotificationFormat: [String: Int]]

    /// The order of the platforms in the document.
    private static let order: [NotificationFormat] = [
        .apple, .windowsphone, .windows, .gcm, .adm, .fcmv1, .baidu, .browser, .xiaomi,
    ]

    /// `NotificationDetails`, with elements in the order in which the .NET client reads them.
    func document(_ call: HubCall) -> String {
        // The service writes the location with the scheme of the connection string.
        let url = call.location("messages/\(id)")
        let location = url.firstRange(of: "://").map { "sb://" + url[$0.upperBound...] } ?? url
        let platforms = NotificationFormat.platforms.filter { outcomes[$0] != nil }.map(\.rawValue)
        let elements: [(String, String?)] = [
            ("NotificationId", id), ("Location", location), ("State", state.rawValue),
            ("EnqueueTime", enqueuedAt.rfc3339Seconds), ("StartTime", completedAt?.rfc3339Seconds),
            ("EndTime", completedAt?.rfc3339Seconds), ("NotificationBody", bodyText), ("Tags", tags),
            ("TargetPlatforms", platforms.joined(separator: ",")),
        ]
        var output = "<NotificationDetails xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
        for case (let name, let text?) in elements where !text.isEmpty {
            output += "<\(name)>\(XMLWriter.escape(text))</\(name)>"
        }
        for platform in Self.order {
            guard let counts = outcomes[platform], !counts.isEmpty else { continue }
            let element = Self.countsElement(platform)
            output += "<\(element)>"
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
                output += "<Outcome><Name>\(XMLWriter.escape(name))</Name><Count>\(count)</Count></Outcome>"
            }
            output += "</\(element)>"
        }
        return output + "</NotificationDetails>"
    }

    /// `ApnsOutcomeCounts`: these elements have the prefixes Apns and Wns for apple and windows.
    private static func countsElement(_ platform: NotificationFormat) -> String {
        switch platform {
        case .apple: "ApnsOutcomeCounts"
        case .windows: "WnsOutcomeCounts"
        default: "\(platform.descriptionPrefix)OutcomeCounts"
        }
    }

    /// The payload as text; characters that XML forbids are replaced.
    private var bodyText: String {
        String(decoding: body, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
            text.unicodeScalars.append(XMLInput.isAllowed(scalar) ? scalar : "\u{FFFD}")
        }
    }
}

extension HubDelivery {
    /// - Parameter hubKey: the hub's name in lower case.
    /// - Returns: nil when the hub knows no send of this ID.
    /// - Throws: ``StorageError``.
    func telemetry(of messageID: String, hubKey: String) async throws -> MessageTelemetry? {
        guard HubMessageID.isPossible(messageID), let message = try await messages.message(messageID, hub: hubKey),
            let state = MessageTelemetry.State(rawValue: message.state)
        else { return nil }
        var outcomes: [NotificationFormat: [String: Int]] = [:]
        for outcome in message.outcomes where outcome.name != HubMessage.unknown {
            guard let platform = NotificationFormat(rawValue: outcome.platform) else { continue }
            outcomes[platform, default: [:]][outcome.name, default: 0] += outcome.count
        }
        return MessageTelemetry(
            id: message.id, state: state, enqueuedAt: message.enqueuedAt, completedAt: message.completedAt,
            body: message.body, tags: message.tags, outcomes: outcomes)
    }
}

/// `GET /{hub}/messages/{id}`: the result of a send.
struct TelemetryController: Sendable {
    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.get("messages/:id", use: read)
    }

    /// The right is not documented; Send and Manage are accepted.
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: [.send, .manage])
        try await state.injectFaults(.telemetry, context)
        let id = context.parameter("id")
        guard let found = try await state.delivery.telemetry(of: id, hubKey: call.hubKey) else {
            throw HubError.unknownMessage
        }
        return .hub(found.document(call))
    }
}
