/// `NotificationDetails`, with elements in the order in which the .NET client reads them.
enum TelemetryDocument {
    /// The platforms before and behind `PnsErrorDetailsUri`, by the beginnings of their elements' names.
    private static let order: [NotificationFormat] = [
        .apple, .windowsphone, .windows, .gcm, .adm, .fcmv1, .baidu, .browser, .xiaomi,
    ]

    static func make(_ telemetry: MessageTelemetry, call: HubCall) -> String {
        var output =
            "<NotificationDetails xmlns=\"\(XMLNamespace.connect)\" xmlns:i=\"\(XMLNamespace.instance)\">"
        write("NotificationId", telemetry.id, to: &output)
        write("Location", location(of: telemetry.id, call: call), to: &output)
        write("State", telemetry.state.rawValue, to: &output)
        write("EnqueueTime", telemetry.enqueuedAt.rfc3339Seconds, to: &output)
        write("StartTime", telemetry.startedAt?.rfc3339Seconds, to: &output)
        write("EndTime", telemetry.endedAt?.rfc3339Seconds, to: &output)
        write("NotificationBody", body(telemetry.body), to: &output)
        write("Tags", telemetry.tags, to: &output)
        write("TargetPlatforms", telemetry.targetPlatforms.map(\.rawValue).joined(separator: ","), to: &output)
        for platform in order {
            guard let counts = telemetry.outcomes[platform], !counts.isEmpty else { continue }
            let element = countsElement(platform)
            output += "<\(element)>"
            for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
                output += "<Outcome><Name>\(XMLWriter.escape(name))</Name><Count>\(count)</Count></Outcome>"
            }
            output += "</\(element)>"
        }
        return output + "</NotificationDetails>"
    }

    /// `ApnsOutcomeCounts`: the elements say Apns and Wns where formats say apple and windows.
    private static func countsElement(_ platform: NotificationFormat) -> String {
        switch platform {
        case .apple: "ApnsOutcomeCounts"
        case .windows: "WnsOutcomeCounts"
        default: "\(platform.descriptionPrefix)OutcomeCounts"
        }
    }

    /// The service writes the location with the scheme of the connection string.
    private static func location(of id: String, call: HubCall) -> String {
        let url = call.location("messages/\(id)")
        return url.firstRange(of: "://").map { "sb://" + url[$0.upperBound...] } ?? url
    }

    /// The payload as text; bytes that XML cannot hold are replaced.
    private static func body(_ bytes: [UInt8]) -> String {
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            text.unicodeScalars.append(XMLInput.isAllowed(scalar) ? scalar : "\u{FFFD}")
        }
        return text
    }

    private static func write(_ name: String, _ text: String?, to output: inout String) {
        guard let text, !text.isEmpty else { return }
        output += "<\(name)>\(XMLWriter.escape(text))</\(name)>"
    }
}
