import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Testing

@testable import Hub

/// What official clients send beyond the documented forms; seen when their own test suites ran.
@Suite struct ForeignClientTests {
    /// A registration as the .NET client writes one.
    private static func typed(_ type: String, _ inner: String) -> String {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"\(XMLNamespace.atom)\">"
            + "<content type=\"application/xml\"><RegistrationDescription xmlns:i=\"\(XMLNamespace.instance)\""
            + " i:type=\"\(type)\" xmlns=\"\(XMLNamespace.connect)\">\(inner)</RegistrationDescription>"
            + "</content></entry>"
    }

    @Test(
        arguments: [
            ("AppleRegistrationDescription", "<DeviceToken>AB12</DeviceToken>"),
            ("q1:AppleRegistrationDescription", "<DeviceToken>AB12</DeviceToken>"),
            (
                "WindowsTemplateRegistrationDescription",
                "<ChannelUri>https://w/</ChannelUri><BodyTemplate><![CDATA[<toast/>]]></BodyTemplate>"
            ),
            ("FcmV1RegistrationDescription", "<FcmV1RegistrationId>f:1</FcmV1RegistrationId>"),
        ] as [(String, String)])
    func `A registration with its type in an attribute is taken`(_ type: String, _ fields: String) async throws {
        try await withEmulator { emulator in
            let inner =
                "<ETag i:nil=\"true\" /><ExpirationTime i:nil=\"true\" /><RegistrationId i:nil=\"true\" />"
                + "<Tags>tag1</Tags><PushVariables i:nil=\"true\" />\(fields)<Priority i:nil=\"1\" />"
            let response = try await emulator.call(
                .post, "/hub/registrations?api-version=2020-06", headers: TestEntry.headers,
                body: Self.typed(type, inner))
            #expect(response.status == .ok, "\(response.text)")
            // The answer is in the element form, and what is nil is not in it, but for a template's name.
            let name = type.replacing("q1:", with: "")
            let absent = type.contains("Template") ? "<TemplateName i:nil=\"true\"/>" : ""
            #expect(response.text.contains("<\(name) xmlns="))
            #expect(response.text.contains("<Tags>tag1</Tags>\(fields)\(absent)</\(name)>"), "\(response.text)")
            #expect(response.text.occurrences(of: "i:nil") == (absent.isEmpty ? 0 : 1))
        }
    }

    @Test(arguments: ["", "NokiaXRegistrationDescription", "RegistrationDescription", ":"])
    func `An unknown type is 400`(_ type: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers,
                body: Self.typed(type, "<DeviceToken>AB12</DeviceToken>"))
            #expect(response.status == .badRequest)
        }
    }

    @Test(arguments: ["\"*\"", "W/\"*\"", "*"]) func `A star in quotes matches every version`(_ star: String)
        async throws
    {
        try await withEmulator { emulator in
            let id = try await emulator.register("ab12", tags: "t")
            let response = try await emulator.call(
                .delete, "/hub/registrations/\(id)?api-version=2020-06", headers: [.ifMatch: star])
            #expect(response.status == .ok, "\(response.text)")
        }
    }

    @Test(
        arguments: [
            ("application/xml", 400), ("application/octet-stream", 201), ("application/octet-stream; charset=x", 201),
            (nil, 400),
        ] as [(String?, Int)])
    func `A raw notification is bytes`(_ row: (type: String?, status: Int)) async throws {
        try await withEmulator(.live) { emulator in
            var headers: HTTPFields = [HTTPField.Name(static: "X-WNS-Type"): "wns/Raw"]
            headers[.contentType] = row.type
            let response = try await emulator.send("7", format: "windows", headers: headers)
            #expect(response.status.code == row.status)
            guard row.status == 400 else { return }
            let sentence = "The content type for a 'wns/raw' notification must be 'application/octet-stream'"
            // Recorded: without the tracking ID that all other details have.
            #expect(response.detail == sentence, "\(response.text)")
            #expect(response.headers[HubHeaders.trackingID] != nil)
            headers[HubHeaders.scheduleTime] = "2026-01-31T10:00:00"
            let later = try await emulator.send(
                "7", format: "windows", headers: headers, uri: "/hub/schedulednotifications")
            #expect(later.status == .badRequest)
        }
    }

    @Test(
        arguments: [
            (.get, "/hub/nothing", 404), (.get, "/hub/registrations/1/2", 404), (.patch, "/hub/registrations", 405),
            (.put, "/hub/Messages", 405), (.post, "/", 405), (.get, "/a/b/c/d", 404), (.delete, "/hub/jobs/1", 405),
            (HTTPRequest.Method("PROPFIND") ?? .get, "/hub", 405),
        ] as [(HTTPRequest.Method, String, Int)])
    func `Unknown paths and methods are answered in the hub's form`(
        _ method: HTTPRequest.Method, _ path: String, _ status: Int
    ) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(method, path, headers: [HubHeaders.trackingID: "track-1"])
            #expect(response.status.code == status)
            #expect(response.headers[.contentType] == HubHeaders.xmlContentType)
            #expect(response.headers[HubHeaders.trackingID] == "track-1")
            #expect(response.text.hasPrefix("<Error><Code>\(status)</Code><Detail>"), "\(response.text)")
            #expect(response.text.contains("TrackingId:track-1_G0"))
            #expect((response.headers[.allow] != nil) == (status == 405))
        }
    }

    @Test func `A compressed body is 415 with the coding that is taken`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(
                .post, "/hub/messages", headers: [.contentEncoding: "gzip"], body: "x")
            #expect(response.status == .unsupportedMediaType)
            #expect(response.headers[.contentType] == HubHeaders.xmlContentType)
            #expect(response.headers[.acceptEncoding] == "identity")
        }
    }

    @Test(arguments: ["/emulator/nothing", "/livez/x"]) func `The emulator's own paths answer problems`(_ path: String)
        async throws
    {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, path)
            #expect(response.status == .notFound)
            #expect(response.headers[.contentType] == "application/problem+json")
        }
    }

    @Test func `A head has no body`() async throws {
        try await withEmulator(.live) { emulator in
            let token = TestToken.make()
            for (path, status) in [("/hub/nothing", 404), ("/hub/messages", 405), ("/hub/registrations", 200)] {
                let head = "HEAD \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: \(token)\r\n\r\n"
                let get = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                let bytes = try await RawExchange.everything(head + get, port: emulator.port)
                #expect(bytes.hasPrefix("HTTP/1.1 \(status) "), "\(bytes)")
                let rest = try #require(bytes.firstRange(of: "\r\n\r\n")).upperBound
                #expect(bytes[rest...].hasPrefix("HTTP/1.1 200 OK"), "\(bytes)")
            }
        }
    }

    @Test func `A token at the root lists the hubs`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("ab12", tags: "t", hub: "Second")
            try await emulator.register("ab12", tags: "t", hub: "first")
            let response = try await emulator.call(.get, "/")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == AtomEntry.feedContentType)
            let feed = try XMLReader.read(Array(response.text.utf8))
            #expect(feed.name == "feed")
            let names = feed.children.filter { $0.name == "entry" }.map { $0.child("title")?.text.lowercased() }
            #expect(names == ["first", "second"])
            // Recorded: names and addresses only.
            #expect(feed.child("title")?.text == "Publicly Listed Services")
            let entry = feed.child("entry")
            #expect(entry?.children.map(\.name) == ["id", "title", "updated", "link"])
            #expect(entry?.child("id")?.text.wholeMatch(of: /uuid:[-0-9a-f]{36};id=2/) != nil)
            #expect(entry?.child("link")?.attribute("rel") == "alternate")
            #expect(entry?.child("link")?.attribute("href") == "http://localhost/first")
            #expect(!response.text.contains("Key"))
            let listen = TestToken.make(rule: SharedAccessRule.defaultListenName, key: emulator.listenKey)
            #expect(try await emulator.call(.get, "/", authorization: listen).status == .forbidden)
            #expect(
                try await emulator.call(.get, "/", authorization: "SharedAccessSignature x").status == .unauthorized)
            let page = try await emulator.call(.get, "/", authorization: nil)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        }
    }

    /// The JavaScript client escapes the URL inside the filter, and the filter in the query.
    @Test(
        arguments: [
            ("ChannelUri%20eq%20'https%253A%252F%252Fw.test%252F%253Fa%253D1'", "https://w.test/?a=1"),
            (
                "Endpoint%20eq%20'https%253A%252F%252Fb.test%252F'%20and%20P256DH%20eq%20'p'%20and%20Auth%20eq%20'x'",
                "https://b.test/"
            ),
        ] as [(String, String)])
    func `A filter that is encoded twice finds its device`(_ filter: String, _ handle: String) async throws {
        try await withEmulator { emulator in
            try await emulator.register(
                "https://w.test/?a=1", tags: "t", element: "WindowsRegistrationDescription", field: "ChannelUri")
            _ = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers,
                body: TestEntry.make(
                    "BrowserRegistrationDescription",
                    "<Endpoint>https://b.test/</Endpoint><P256DH>p</P256DH><Auth>x</Auth>"))
            let response = try await emulator.call(.get, "/hub/registrations?api-version=2020-06&$filter=\(filter)")
            #expect(response.status == .ok)
            #expect(response.text.occurrences(of: "<entry ") == 1, "\(response.text)")
            #expect(response.text.contains(">\(handle)<"))
        }
    }

    @Test func `Expect is answered before the body is sent`() async throws {
        try await withEmulator(.live) { emulator in
            let head =
                "POST /hub/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: \(TestToken.make())\r\n"
                + "ServiceBusNotification-Format: apple\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"
            let answers = try await RawExchange.stepwise(
                [head, #"{"aps":{}}"#], until: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 201 "], port: emulator.port)
            #expect(answers[0] == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(answers[1].hasPrefix("HTTP/1.1 201 Created\r\n"))
        }
    }

    @Test func `A template's tags may hold blanks and all are sorted`() async throws {
        try await withEmulator { emulator in
            let document =
                #"{"platform":"apns","pushChannel":"AB12","tags":["zeta","Alpha","beta"],"#
                + #""templates":{"t":{"body":"{}","tags":["Template Name"]}}}"#
            #expect(try await emulator.install(document).status == .ok)
            let read = try await emulator.call(.get, "/hub/installations/inst-1").text
            #expect(read.contains(#""tags":["Alpha","beta","zeta"]"#))
            let feed = try await emulator.call(.get, "/hub/registrations").text
            let tags = feed.matches(of: /<Tags>([^<]*)<\/Tags>/).map { String($0.output.1) }
            #expect(
                tags == [
                    "$InstallationId:{inst-1},Alpha,beta,zeta",
                    "$InstallationId:{inst-1},Alpha,beta,Template Name,zeta",
                ])
        }
    }

    @Test(arguments: ["$UserId:{a},$userid:{b}", "$InstallationId:{a}, $InstallationId:{b}"])
    func `A registration is of one user and one installation`(_ tags: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers, body: TestEntry.apple(tags: tags))
            #expect(response.status == .badRequest)
        }
    }

    /// The JavaScript client takes no `Location` that begins with `http:`.
    @Test func `Locations begin as the endpoint does`() throws {
        var configuration = EmulatorConfiguration(http: .init(port: 0), connectionString: testConnectionString)
        #expect(configuration.locationScheme == "http")
        configuration.http.tls = .init(certificateFile: "c", privateKeyFile: "k")
        #expect(configuration.locationScheme == "https")
        let behindProxy = HubConnectionString(endpoint: "https://hub.test/", keyName: "r", key: "k")
        configuration = EmulatorConfiguration(http: .init(port: 0), connectionString: behindProxy)
        #expect(configuration.locationScheme == "https")
    }
}
