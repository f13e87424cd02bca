@testable import Hub

extension ClientRequest {
    static var hubs: [ClientRequest] {
        var rows: [ClientRequest] = []
        let entryAnswer = ["content-type": "application/atom+xml; type=entry; charset=utf-8"]
        for style in [.dotNetManagement, .java, .azureSB] as [ClientStyle] {
            let credential =
                "<ApnsCredential><Properties><Property><Name>Endpoint</Name><Value>x</Value></Property></Properties>"
                + "</ApnsCredential>"
            let entry = style.entry("NotificationHubDescription", credential)
            let type = style.entryType.isEmpty ? "application/atom+xml;type=entry;charset=utf-8" : style.entryType
            rows += [
                ClientRequest(
                    "create hub", style, "PUT", "/fresh", type: type, body: entry, status: 201,
                    holds: [
                        "<title type=\"text\">fresh</title>", credential,
                        "<RegistrationTtl>P10675199DT2H48M5.4775807S<",
                    ],
                    answers: entryAnswer),
                ClientRequest(
                    "create hub", style, "PUT", "/existing", type: type, body: entry, status: 409,
                    holds: ["<Error><Code>409</Code><Detail>SubCode=40900. Conflict.TrackingId:"]),
                ClientRequest(
                    "update hub", style, "PUT", "/existing", type: type, headers: ["If-Match: *"],
                    body: entry,
                    status: 200, holds: [credential], answers: entryAnswer),
                ClientRequest(
                    "update hub", style, "PUT", "/none", type: type, headers: ["If-Match: *"], body: entry,
                    status: 404),
                ClientRequest(
                    "get hub", style, "GET", "/existing", status: 200,
                    holds: ["<KeyName>DefaultListenSharedAccessSignature</KeyName>"], answers: entryAnswer),
                ClientRequest(
                    "get hub", style, "GET", "/none", status: 200, holds: [PublicFeedTests.title, "!<entry"],
                    answers: ["content-type": "application/atom+xml; type=feed; charset=utf-8"]),
                ClientRequest("delete hub", style, "DELETE", "/existing", status: 200),
                ClientRequest(
                    "delete hub", style, "DELETE", "/none", status: 404,
                    holds: ["<Detail>No service is hosted at the specified address..TrackingId:"]),
                ClientRequest(
                    "list hubs", style, "GET", "/$Resources/NotificationHubs", query: "$skip=0&$top=2147483647",
                    status: 200, holds: ["<title type=\"text\">existing</title>", "<title type=\"text\">hub</title>"],
                    answers: ["content-type": "application/atom+xml; type=feed; charset=utf-8"]),
                ClientRequest(
                    "list hubs", style, "GET", "/$Resources/NotificationHubs/", query: "%24skip=1&%24top=1",
                    status: 200,
                    holds: ["!<title type=\"text\">existing</title>", "<title type=\"text\">hub</title>"]),
            ]
        }
        return rows
    }

    static var telemetry: [ClientRequest] {
        var rows: [ClientRequest] = []
        for style in [.dotNet, .java, .javaScript, .go] as [ClientStyle] {
            rows += [
                ClientRequest(
                    "get message telemetry", style, "GET", "/hub/messages/{MESSAGE}", status: 200,
                    holds: [
                        "<NotificationId>{MESSAGE}</NotificationId>", "<State>Completed</State><EnqueueTime>",
                        "<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>1</Count></Outcome>",
                    ], answers: ["content-type": "application/xml; charset=utf-8"]),
                ClientRequest(
                    "get message telemetry", style, "GET", "/hub/messages/none", status: 404,
                    holds: ["<Error><Code>404</Code>"]),
                ClientRequest(
                    "get feedback container", style, "GET", "/hub/feedbackcontainer", status: 200,
                    holds: ["http://127.0.0.1"]),
            ]
        }
        return rows
    }
}
