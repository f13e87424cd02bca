@testable import Hub

extension ClientRequest {
    private static let styles: [ClientStyle] = [.dotNet, .java, .javaScript, .go, .go2, .device, .ruby]

    static var installations: [ClientRequest] {
        var rows: [ClientRequest] = []
        let path = "/hub/installations/inst-1"
        for style in styles {
            for (platform, channel) in channels(style) {
                let document =
                    "{\"installationId\":\"new\",\"pushChannel\":\(channel),\"platform\":\"\(platform)\","
                    + "\"tags\":[\"a\"]}"
                rows.append(
                    ClientRequest(
                        "put installation", style, "PUT", "/hub/installations/new", type: style.installationType,
                        body: document, status: 200, holds: ["!<"],
                        answers: ["content-type": "application/xml"]))
            }
            rows += [
                ClientRequest(
                    "put installation", style, "PUT", path, type: style.installationType,
                    body: #"{"installationId":"inst-1","platform":"apns"}"#, status: 400,
                    holds: ["<Error><Code>400</Code>"]),
                ClientRequest(
                    "get installation", style, "GET", path, status: 200,
                    holds: [
                        #"{"installationId":"inst-1","pushChannel":"EF56","pushChannelExpired":false,"#
                    ],
                    answers: ["content-type": "application/xml; charset=utf-8"]),
                ClientRequest(
                    "get installation", style, "GET", "/hub/installations/none", status: 404,
                    holds: ["<Error><Code>404</Code><Detail>Installation not found.TrackingId:"]),
                ClientRequest("delete installation", style, "DELETE", path, status: 204),
                ClientRequest("delete installation", style, "DELETE", "/hub/installations/none", status: 204),
                ClientRequest(
                    "patch installation", style, "PATCH", "/hub/installations/none", type: style.patchType,
                    body: "[]", status: 404),
            ]
            for patch in patches(style) {
                rows.append(
                    ClientRequest(
                        "patch installation", style, "PATCH", path, type: style.patchType, body: "[\(patch)]",
                        status: 200,
                        holds: ["!<"]))
            }
        }
        return rows
    }

    private static func channels(_ style: ClientStyle) -> [(platform: String, channel: String)] {
        let browser =
            style.name == "NET"
            ? "\"{\\\"endpoint\\\":\\\"https://b\\\",\\\"p256dh\\\":\\\"p\\\",\\\"auth\\\":\\\"a\\\"}\""
            : "{\"endpoint\":\"https://b\",\"p256dh\":\"p\",\"auth\":\"a\"}"
        return [
            ("apns", "\"AB12\""), ("wns", "\"https://w\""), ("mpns", "\"https://m\""), ("gcm", "\"g\""),
            (style.name == "NET" ? "fcmV1" : "fcmv1", "\"f:1\""), ("adm", "\"a\""), ("browser", browser),
        ]
    }

    /// As each client's helpers write them: Java and Go give templates as JSON text.
    private static func patches(_ style: ClientStyle) -> [String] {
        let common = [
            #"{"op":"add","path":"/pushChannel","value":"cd34"}"#, #"{"op":"add","path":"/tags","value":"bar"}"#,
            #"{"op":"remove","path":"/tags/foo"}"#,
            #"{"op":"replace","path":"/templates/t1","value":"{\"body\":\"{\\\"data\\\":{}}\"}"}"#,
            #"{"op":"remove","path":"/templates/t1"}"#, #"{"op":"remove","path":"/userId"}"#,
            #"{"op":"replace","path":"/userId","value":"bob"}"#,
        ]
        guard style.name == "GO" else { return common }
        return common + [
            #"{"op":"replace","path":"/tags","value":"[\"a\",\"b\"]"}"#,
            #"{"op":"replace","path":"/templates/t1/body","value":"b"}"#,
            #"{"op":"replace","path":"/templates/t1/headers","value":"{\"h\":\"v\"}"}"#,
            #"{"op":"replace","path":"/templates/t1/tags","value":"[\"x\"]"}"#,
            #"{"op":"add","path":"/templates/t1/tags","value":"x"}"#,
            #"{"op":"remove","path":"/templates/t1/tags/x"}"#,
        ]
    }
}
