@testable import Hub

extension ClientRequest {
    private static let styles: [ClientStyle] = [.dotNet, .java, .javaScript, .go, .azureSB, .device, .php]
    private static let fullStyles: [ClientStyle] = [.dotNet, .java, .javaScript, .azureSB, .device]

    /// The platforms' elements and fields.
    private static let platforms: [(prefix: String, fields: String)] = [
        ("Apple", "<DeviceToken>AB12</DeviceToken>"), ("FcmV1", "<FcmV1RegistrationId>f:1</FcmV1RegistrationId>"),
        ("Gcm", "<GcmRegistrationId>g</GcmRegistrationId>"),
        ("Windows", "<ChannelUri>https://w/?a=1&amp;b=2</ChannelUri>"), ("Mpns", "<ChannelUri>https://m/</ChannelUri>"),
        ("Adm", "<AdmRegistrationId>a</AdmRegistrationId>"),
        ("Baidu", "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId>"),
        ("Browser", "<Endpoint>https://b</Endpoint><P256DH>p</P256DH><Auth>a</Auth>"),
    ]

    static var registrations: [ClientRequest] {
        creations + singles + lists
    }

    private static var creations: [ClientRequest] {
        var rows: [ClientRequest] = []
        for style in styles {
            let known = style.name == "GO" ? platforms.filter { ["Apple", "Gcm"].contains($0.prefix) } : platforms
            for (prefix, fields) in known {
                let native = "\(prefix)RegistrationDescription"
                rows.append(
                    ClientRequest(
                        "create registration", style, "POST", style.registrations, type: style.entryType,
                        body: style.entry(native, "<Tags>tag1,username:alice</Tags>\(fields)"), status: 200,
                        holds: [
                            "<ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>",
                            "</RegistrationId><Tags>tag1,username:alice</Tags>\(fields)</\(native)>",
                        ],
                        answers: [
                            "etag": "W/\"1\"", "content-type": "application/atom+xml; type=entry; charset=utf-8",
                            "content-location": "http://127.0.0.1",
                        ]))
                let template = "\(prefix)TemplateRegistrationDescription"
                let body = "<BodyTemplate><![CDATA[{\"a\":\"$(m)<&\"}]]></BodyTemplate>"
                rows.append(
                    ClientRequest(
                        "create template registration", style, "POST", style.registrations, type: style.entryType,
                        body: style.entry(
                            template, "<Tags>t</Tags>\(fields)\(body)<TemplateName>n</TemplateName>"), status: 200,
                        holds: [
                            "<Tags>t</Tags>\(fields)\(body)\(prefix == "Apple" ? "<Expiry i:nil=\"true\"/>" : "")"
                                + "<TemplateName>n</TemplateName></\(template)>"
                        ],
                        answers: ["etag": "W/\"1\""]))
            }
            rows.append(
                ClientRequest(
                    "create registration id", style, "POST", style.registrationIDs,
                    headers: style.layout == nil ? ["Content-Length: 0"] : [], status: 201,
                    answers: ["location": "http://127.0.0.1"]))
        }
        return rows
    }

    private static var singles: [ClientRequest] {
        var rows: [ClientRequest] = []
        for style in styles {
            let path = "/hub/registrations/123-234-1"
            let entry = style.entry("AppleRegistrationDescription", "<Tags>new</Tags><DeviceToken>cd34</DeviceToken>")
            rows += [
                ClientRequest(
                    "create or update registration", style, "PUT", path, type: style.entryType, body: entry,
                    status: 200,
                    holds: ["<ETag>2</ETag>", "<Tags>new</Tags><DeviceToken>CD34</DeviceToken>"],
                    answers: ["etag": "W/\"2\""]),
                ClientRequest(
                    "create registration with own id", style, "PUT", "/hub/registrations/9-9-9", type: style.entryType,
                    body: entry, status: 200, holds: ["<RegistrationId>9-9-9</RegistrationId>"]),
                ClientRequest(
                    "update registration", style, "PUT", path, type: style.entryType,
                    headers: ["If-Match: \(style.ifMatch)"], body: entry, status: 200, answers: ["etag": "W/\"2\""]),
                ClientRequest(
                    "update registration", style, "PUT", path, type: style.entryType, headers: ["If-Match: \"7\""],
                    body: entry, status: 412, holds: ["<Error><Code>412</Code>"]),
                ClientRequest(
                    "update registration", style, "PUT", "/hub/registrations/9-9-9", type: style.entryType,
                    headers: ["If-Match: *"], body: entry, status: 404),
                ClientRequest(
                    "update registration", style, "PUT", "/hub/registrations/gone", type: style.entryType, body: entry,
                    status: 410, holds: ["<Error><Code>410</Code>"]),
                ClientRequest(
                    "get registration", style, "GET", path, status: 200,
                    holds: ["<ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>", "AB12"]),
                ClientRequest(
                    "get registration", style, "GET", "/hub/registrations/9-9-9", status: 404,
                    holds: ["<Error><Code>404</Code><Detail>.TrackingId:"]),
                ClientRequest(
                    "delete registration", style, "DELETE", path, headers: ["If-Match: \(style.ifMatch)"], status: 200),
                ClientRequest(
                    "delete registration", style, "DELETE", path, type: style.layout == nil ? "" : nil,
                    headers: ["If-Match: \(style.ifMatchAny)"], status: 200),
                ClientRequest(
                    "delete registration", style, "DELETE", "/hub/registrations/9-9-9",
                    headers: ["If-Match: \(style.ifMatchAny)"], status: 404),
            ]
        }
        return rows
    }

    private static var lists: [ClientRequest] {
        var rows: [ClientRequest] = []
        let feed = ["content-type": "application/atom+xml; type=feed; charset=utf-8"]
        for style in fullStyles {
            rows += [
                ClientRequest(
                    "list registrations", style, "GET", style.registrations, query: "\(style.top)=100", status: 200,
                    holds: [
                        "<title type=\"text\">Registrations</title>", "<RegistrationId>123-234-1</", "$InstallationId:",
                    ],
                    answers: feed),
                ClientRequest(
                    "list registrations, first page", style, "GET", style.registrations, query: "\(style.top)=1",
                    status: 200, holds: ["<RegistrationId>123-234-1</", "!123-234-2"],
                    answers: ["x-ms-continuationtoken": ""]),
                ClientRequest(
                    "list registrations, next page", style, "GET", style.registrations,
                    query: "\(style.top)=1&\(style.continuation)={PAGE}", status: 200,
                    holds: ["<RegistrationId>123-234-2</", "!123-234-1"]),
                ClientRequest(
                    "list registrations by handle", style, "GET", style.registrations,
                    query: "\(style.filter)=\(style.handleFilter)&\(style.top)=100", status: 200,
                    holds: ["<RegistrationId>123-234-1</", "!123-234-2"], answers: feed),
                ClientRequest(
                    "list registrations by tag", style, "GET", "/hub/tags/tag1/registrations",
                    query: "\(style.top)=100", status: 200, holds: ["<RegistrationId>123-234-1</", "!123-234-2"]),
                ClientRequest(
                    "list registrations by tag", style, "GET", "/hub/tags/$InstallationId:%7Binst-1%7D/registrations",
                    status: 200, holds: ["<Tags>$InstallationId:{inst-1},foo</Tags>", "!123-234-1"]),
            ]
        }
        rows.append(
            ClientRequest(
                "list registrations", .go, "GET", "/hub/registrations", status: 200,
                holds: ["<RegistrationId>123-234-1</"], answers: feed))
        let js = ClientStyle.javaScript
        for (filter, id) in [
            ("FcmV1RegistrationId+eq+%27f%3A1%27", "123-234-2"), ("GcmRegistrationId+eq+%27g%27", nil),
            ("AdmRegistrationId+eq+%27a%27", nil), ("ChannelUri+eq+%27https%3A%2F%2Fw%2F%27", nil),
            ("Endpoint+eq+%27https%3A%2F%2Fb%27+and+P256DH+eq+%27p%27+and+Auth+eq+%27a%27", nil),
        ] as [(String, String?)] {
            rows.append(
                ClientRequest(
                    "list registrations by handle", js, "GET", js.registrations, query: "%24filter=\(filter)",
                    status: 200, holds: [id.map { "<RegistrationId>\($0)</" } ?? "!<entry"]))
        }
        return rows
    }
}
