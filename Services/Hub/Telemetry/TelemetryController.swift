import Foundations
import Hummingbird
import Storage

/// The service's states of a send.
enum MessageState: String, Sendable {
    case processing = "Processing"
    case completed = "Completed"
    case noTargetFound = "NoTargetFound"
    case scheduled = "Scheduled"
    /// Java and Go read one `l`, .NET and JavaScript two; the service's own spelling is not recorded.
    case cancelled = "Cancelled"
}

extension HubMessage {
    /// The order of the platforms in the document.
    private static let order: [NotificationFormat] = [
        .apple, .windowsphone, .windows, .gcm, .adm, .fcmv1, .baidu, .browser, .xiaomi,
    ]

    /// `NotificationDetails`: the result of the send, with elements in the order in which the .NET client reads them.
    func document(_ call: HubCall) -> String {
        // The service writes the location with the scheme of the connection string.
        let url = call.location("messages/\(id)")
        let location = url.firstRange(of: "://").map { "sb://" + url[$0.upperBound...] } ?? url
        let ended = Dictionary(grouping: outcomes.filter { $0.name != Self.unknown }, by: \.platform)
        let platforms = NotificationFormat.platforms.map(\.rawValue).filter { ended[$0] != nil }
        let elements: [(String, String?)] = [
            ("NotificationId", id), ("Location", location), ("State", state),
            ("EnqueueTime", enqueuedAt.rfc3339Seconds), ("StartTime", completedAt?.rfc3339Seconds),
            ("EndTime", completedAt?.rfc3339Seconds), ("NotificationBody", bodyText), ("Tags", tags),
            ("TargetPlatforms", platforms.joined(separator: ",")),
        ]
        var output = "<NotificationDetails xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
        for case (let name, let text?) in elements where !text.isEmpty {
            output += "<\(name)>\(XMLWriter.escape(text))</\(name)>"
        }
        for platform in Self.order {
            guard let counts = ended[platform.rawValue] else { continue }
            let element = Self.countsElement(platform)
            output += "<\(element)>"
            for outcome in counts.sorted(by: { $0.name < $1.name }) {
                output +=
                    "<Outcome><Name>\(XMLWriter.escape(outcome.name))</Name><Count>\(outcome.count)</Count></Outcome>"
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
        guard HubMessageID.isPossible(id),
            let message = try await state.delivery.messages.message(id, hub: call.hubKey)
        else { throw HubError.unknownMessage }
        return .hub(message.document(call))
    }
}
