import Foundations

@testable import Hub

extension ClientRequest {
    private static let styles: [ClientStyle] = [
        .dotNet, .java, .javaScript, .go, .go2, .azureSB, .ruby, .php, .python,
    ]
    private static let accepted = [
        "content-type": "application/xml; charset=utf-8", "location": "http://127.0.0.1",
    ]

    static var sends: [ClientRequest] {
        styles.flatMap { natives($0) + refused($0) + [template($0), direct($0)] }
            + [.dotNet, .java, .javaScript].map(debug) + [.dotNet, .java, .javaScript, .go2].map(batch)
            + [.dotNet, .java, .javaScript, .go, .go2, .python].flatMap(schedules)
    }

    /// The clients' own spellings of the path.
    private static func path(_ style: ClientStyle) -> String {
        switch style.name {
        case "azure-sb": "/hub/Messages"
        case "PHP": "/hub/messages/"
        default: "/hub/messages"
        }
    }

    private static func natives(_ style: ClientStyle) -> [ClientRequest] {
        let joint = ["JAVA", "PHP", "PY"].contains(style.name) ? " || " : "||"
        let json =
            switch style.name {
            case "NET": "application/json"
            case "azure-sb": "application/json;charset=\"utf-8\""
            default: "application/json;charset=utf-8"
            }
        let toast =
            "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">hi</text></binding></visual></toast>"
        let rows: [(type: String, headers: [String], body: String)] = [
            (
                json, ["ServiceBusNotification-Format: apple", "ServiceBusNotification-Tags: tag1\(joint)tag2"],
                #"{"aps":{"alert":"hi"}}"#
            ),
            (
                json,
                ["ServiceBusNotification-Format: fcmv1", "ServiceBusNotification-Tags: tag1 && !tag2"],
                #"{"message":{"data":{"a":"b"}}}"#
            ),
            (
                "application/xml",
                [
                    "ServiceBusNotification-Format: windows", "X-WNS-Type: wns/toast",
                    "ServiceBusNotification-Tags: tag1",
                ],
                toast
            ),
            (json, ["servicebusnotification-format: apple", "apns-priority: 10"], #"{"aps":{"alert":"größe"}}"#),
        ]
        return rows.map { row in
            ClientRequest(
                "send", style, "POST", path(style), type: row.type, headers: row.headers, body: row.body, status: 201,
                answers: accepted)
        }
    }

    private static func refused(_ style: ClientStyle) -> [ClientRequest] {
        [
            ClientRequest(
                "send that is refused", style, "POST", path(style), type: "application/json",
                headers: ["ServiceBusNotification-Format: apple", "ServiceBusNotification-Tags: a &&"], body: "{}",
                status: 400, holds: ["<Error><Code>400</Code><Detail>The tag expression"]),
            ClientRequest(
                "send that is refused", style, "POST", path(style), type: "application/json", body: "{}", status: 400,
                holds: ["<Detail>The ServiceBusNotification-Format header is missing"]),
        ]
    }

    private static func template(_ style: ClientStyle) -> ClientRequest {
        ClientRequest(
            "template send", style, "POST", path(style), type: "application/json;charset=utf-8",
            headers: ["ServiceBusNotification-Format: template", "ServiceBusNotification-Tags: foo"],
            body: #"{"prop":"value"}"#, status: 201, answers: accepted)
    }

    private static func direct(_ style: ClientStyle) -> ClientRequest {
        let query = ["NET": "direct", "JAVA": "direct", "JS": "direct=true"][style.name] ?? "direct="
        // One client sends bytes that are no UTF-8 of ours in a header.
        let junk = style.name == "GO" ? ["X-Apns-Expiration: \u{FFFD}"] : []
        return ClientRequest(
            "direct send", style, "POST", path(style), query: query, type: "application/json",
            headers: ["ServiceBusNotification-Format: apple", "ServiceBusNotification-DeviceHandle: AB12"] + junk,
            body: #"{"aps":{}}"#, status: 201, answers: accepted)
    }

    private static func debug(_ style: ClientStyle) -> ClientRequest {
        ClientRequest(
            "debug send", style, "POST", path(style), query: style.name == "JS" ? "test=true" : "test",
            type: "application/json",
            headers: ["ServiceBusNotification-Format: apple", "ServiceBusNotification-Tags: tag1"],
            body: #"{"aps":{"alert":"hi"}}"#, status: 201,
            holds: [
                "<NotificationOutcome ", "<Success>1</Success><Failure>0</Failure>", "<PnsHandle>AB12</PnsHandle>",
            ],
            answers: accepted)
    }

    private static func batch(_ style: ClientStyle) -> ClientRequest {
        let boundary = "nh-batch-multipart-boundary"
        let type = style.name == "GO2" ? "multipart/form-data; boundary=" : "multipart/mixed; boundary="
        let disposition = style.name == "GO2" ? "form-data" : "inline"
        let parts = [
            ("notification", "application/json", #"{"aps":{"alert":"hi"}}"#),
            ("devices", "application/json", #"["AB12","x"]"#),
        ].map { name, type, body in
            "--\(boundary)\r\nContent-Type: \(type)\r\n"
                + "Content-Disposition: \(disposition); name=\(name)\r\n\r\n\(body)\r\n"
        }
        return ClientRequest(
            "batch send", style, "POST", "/hub/messages/$batch", query: "direct", type: "\(type)\"\(boundary)\"",
            headers: ["ServiceBusNotification-Format: apple"], body: parts.joined() + "--\(boundary)--\r\n",
            status: 201, answers: accepted)
    }

    private static func schedules(_ style: ClientStyle) -> [ClientRequest] {
        let minute = Timestamp(milliseconds: Timestamp.now.milliseconds + 3_600_000).description
        let second = String(minute.prefix(19))
        let time =
            switch style.name {
            case "JS": second + ".000Z"
            case "GO2": second + "+00:00"
            case "PY": second.replacing("T", with: "'T'")
            default: second
            }
        return [
            ClientRequest(
                "schedule", style, "POST", "/hub/schedulednotifications", type: "application/json",
                headers: ["ServiceBusNotification-Format: apple", "ServiceBusNotification-ScheduleTime: \(time)"],
                body: #"{"aps":{"alert":"hi"}}"#, status: 201, answers: accepted),
            ClientRequest(
                "cancel", style, "DELETE", "/hub/schedulednotifications/none", status: 404,
                holds: ["<Error><Code>404</Code>"]),
        ]
    }
}
