import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct HubDescriptionTests {
    /// As the Java client sends it.
    static func entry(_ inner: String = "") -> String {
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"\(XMLNamespace.atom)\">"
            + "<content type=\"application/xml\">"
            + "<NotificationHubDescription xmlns:i=\"\(XMLNamespace.instance)\" xmlns=\"\(XMLNamespace.connect)\">"
            + "\(inner)</NotificationHubDescription></content></entry>"
    }

    private static let credential =
        "<GcmCredential><Properties><Property><Name>GoogleApiKey</Name><Value>a&amp;b</Value></Property></Properties>"
        + "</GcmCredential>"

    private static func rule(_ name: String, _ key: String, _ rights: [String]) -> String {
        let list = rights.map { "<AccessRights>\($0)</AccessRights>" }.joined()
        return "<AuthorizationRule i:type=\"SharedAccessAuthorizationRule\"><ClaimType>SharedAccessKey</ClaimType>"
            + "<ClaimValue>None</ClaimValue><Rights>\(list)</Rights><KeyName>\(name)</KeyName>"
            + "<PrimaryKey>\(key)</PrimaryKey><SecondaryKey>\(key)2</SecondaryKey></AuthorizationRule>"
    }

    @Test func `A hub is created, read, updated, listed and deleted`() async throws {
        try await withEmulator { emulator in
            let uri = "/JavaSDK_1?api-version=2014-09"
            let created = try await emulator.call(.put, uri, body: Self.entry(Self.credential))
            #expect(created.status == .created)
            #expect(created.headers[.contentType] == AtomEntry.contentType)
            #expect(created.text.contains(Self.credential))
            #expect(created.text.contains("<RegistrationTtl>P10675199DT2H48M5.4775807S</RegistrationTtl>"))
            #expect(created.text.contains("<title type=\"text\">JavaSDK_1</title>"))
            #expect(created.text.occurrences(of: "<AuthorizationRule i:type=\"SharedAccessAuthorizationRule\">") == 2)
            let again = try await emulator.call(.put, uri, body: Self.entry())
            #expect(again.status == .conflict)
            #expect(again.detail?.hasPrefix("SubCode=40900. Conflict.TrackingId:") == true)
            let updated = try await emulator.call(
                .put, uri, headers: [.ifMatch: "*"],
                body: Self.entry("<RegistrationTtl>P90D</RegistrationTtl><Novel>1</Novel>"))
            #expect(updated.status == .ok)
            let read = try await emulator.call(.get, "/javasdk_1?api-version=2014-09")
            #expect(read.status == .ok)
            #expect(read.text.contains("<RegistrationTtl>P90D</RegistrationTtl><AuthorizationRules>"))
            #expect(read.text.contains("<Novel>1</Novel>"))
            #expect(!read.text.contains("GcmCredential"))
            #expect(
                read.text.between("<PrimaryKey>", "<") == created.text.between("<PrimaryKey>", "<"))
            let list = try await emulator.call(.get, "/$Resources/NotificationHubs?api-version=2014-09")
            #expect(list.text.contains("<title type=\"text\">JavaSDK_1</title>"))
            #expect(try await emulator.call(.delete, uri).status == .ok)
            #expect(try await emulator.call(.get, uri).text.contains(PublicFeedTests.title))
            let gone = try await emulator.call(.delete, uri)
            #expect(gone.status == .notFound)
            #expect(gone.detail?.hasPrefix("No service is hosted at the specified address..TrackingId:") == true)
            let update = try await emulator.call(.put, uri, headers: [.ifMatch: "*"], body: Self.entry())
            #expect(update.status == .notFound)
            #expect(try await emulator.send(uri: "/javasdk_1/messages").status == .notFound)
        }
    }

    @Test func `Elements come in the order of the .NET contract`() async throws {
        try await withEmulator { emulator in
            let entry = Self.entry(
                "<AdmCredential/><Novel/><DailyMaxActiveDevices>1</DailyMaxActiveDevices><WnsCredential/>"
                    + "<ApnsCredential/>"
            )
            let text = try await emulator.call(.put, "/h?api-version=2020-06", body: entry).text
            let document = try XMLReader.read(Array(text.utf8))
            let children = document.child("content")?.child("NotificationHubDescription")?.children.map(\.name)
            #expect(
                children == [
                    "ApnsCredential", "RegistrationTtl", "WnsCredential", "AuthorizationRules", "DailyMaxActiveDevices",
                    "AdmCredential", "Novel",
                ])
            #expect(
                document.children.map(\.name) == ["id", "title", "published", "updated", "author", "link", "content"])
        }
    }

    @Test func `Hubs are listed in pages`() async throws {
        try await withEmulator(hubNames: ["one", "two", "three", "four"]) { emulator in
            for (query, names) in [
                ("", ["four", "one", "three", "two"]), ("&$skip=1&$top=2", ["one", "three"]), ("&$top=0", []),
                ("&%24skip=3&%24top=2147483647", ["two"]), ("&$skip=9", []),
            ] {
                for path in [
                    "/$Resources/NotificationHubs", "/$Resources/NotificationHubs/", "/%24Resources/NotificationHubs",
                ] {
                    let list = try await emulator.call(.get, "\(path)?api-version=2014-09\(query)")
                    #expect(list.status == .ok, "\(path)")
                    #expect(list.headers[.contentType] == AtomEntry.feedContentType)
                    let titles = list.text.matches(of: /<entry [^>]*><id>[^<]*<\/id><title type="text">([^<]*)</)
                    #expect(titles.map { String($0.output.1) } == names)
                }
            }
            #expect(try await emulator.call(.get, "/$Resources/NotificationHubs?$top=x").status == .badRequest)
        }
    }

    @Test func `Each hub has its own registrations and installations`() async throws {
        try await withEmulator(hubNames: ["one"]) { emulator in
            #expect(try await emulator.call(.get, "/one").status == .ok)
            #expect(try await emulator.call(.get, "/two/registrations").status == .notFound)
            _ = try await emulator.call(.put, "/two", body: Self.entry())
            try await emulator.register("aa", tags: "t", hub: "one")
            _ = try await emulator.call(
                .put, "/two/installations/i", body: TestInstallation.minimal.replacing("inst-1", with: "i"))
            for (hub, registrations, status) in [("one", 1, 404), ("two", 1, 200)] {
                let feed = try await emulator.call(.get, "/\(hub)/registrations").text
                #expect(feed.occurrences(of: "<entry ") == registrations)
                #expect(try await emulator.call(.get, "/\(hub)/installations/i").status.code == status)
            }
            #expect(try await emulator.call(.delete, "/two").status == .ok)
            _ = try await emulator.call(.put, "/two", body: Self.entry())
            #expect(try await emulator.call(.get, "/two/installations/i").status == .notFound)
        }
    }

    @Test func `The rules of a hub are good on it and nowhere else`() async throws {
        try await withEmulator { emulator in
            let rules =
                Self.rule("sender", "s", ["Send"]) + Self.rule("device", "d", ["Listen"])
                + Self.rule("admin", "a", ["Listen", "Manage", "Send"])
            let created = try await emulator.call(
                .put, "/own", body: Self.entry("<AuthorizationRules>\(rules)</AuthorizationRules>"))
            #expect(created.status == .created)
            func status(_ method: HTTPRequest.Method, _ uri: String, _ rule: String, _ key: String) async throws -> Int
            {
                let response = try await emulator.call(
                    method, uri, headers: [HubHeaders.format: "apple"], body: method == .get ? nil : "{}",
                    authorization: TestToken.make(rule: rule, key: key, resource: "http://127.0.0.1/own"))
                if response.status == .forbidden { #expect(response.text.isEmpty) }
                return response.status.code
            }
            for key in ["s", "s2"] { #expect(try await status(.post, "/own/messages", "sender", key) == 201) }
            #expect(try await status(.post, "/own/messages", "device", "d") == 403)
            #expect(try await status(.get, "/own/installations/x", "device", "d2") == 404)
            #expect(try await status(.get, "/own/installations/x", "sender", "s") == 403)
            #expect(try await status(.get, "/own", "device", "d") == 403)
            #expect(try await status(.get, "/own", "admin", "a") == 200)
            #expect(try await status(.get, "/own/messages/x", "sender", "s") == 404)
            #expect(try await status(.get, "/own/messages/x", "device", "d") == 403)
            #expect(try await status(.post, "/own/messages", "sender", "x") == 401)
            #expect(try await status(.post, "/other/messages", "sender", "s") == 401)
            let changed = Self.entry("<AuthorizationRules>\(Self.rule("sender", "new", ["Send"]))</AuthorizationRules>")
            _ = try await emulator.call(.put, "/own", headers: [.ifMatch: "*"], body: changed)
            #expect(try await status(.post, "/own/messages", "sender", "s") == 401)
            #expect(try await status(.post, "/own/messages", "sender", "new") == 201)
        }
    }

    @Test(arguments: [
        "", "x", "<entry/>", TestEntry.apple(),
        entry("<AuthorizationRules><AuthorizationRule/></AuthorizationRules>"),
        entry("<AuthorizationRules>\(rule("a", "b", []))</AuthorizationRules>"),
        entry("<AuthorizationRules>\(rule("a", "b", ["Fly"]))</AuthorizationRules>"),
        entry("<AuthorizationRules>\(rule("a", "b", ["Send"]))\(rule("a", "c", ["Send"]))</AuthorizationRules>"),
        entry("<AuthorizationRules>\((1...13).map { rule("r\($0)", "b", ["Send"]) }.joined())</AuthorizationRules>"),
    ])
    func `What is no description is 400`(_ body: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.put, "/h", body: body)
            #expect(response.status == .badRequest)
        }
    }

    @Test func `A hub that came up through use takes its description and keeps its devices`() async throws {
        try await withEmulator { emulator in
            #expect(try await emulator.call(.get, "/fresh").text.contains(PublicFeedTests.title))
            try await emulator.register("aa", tags: "t", hub: "fresh")
            #expect(try await emulator.call(.get, "/fresh").headers[.contentType] == AtomEntry.contentType)
            #expect(try await emulator.call(.put, "/fresh", body: Self.entry()).status == .created)
            let feed = try await emulator.call(.get, "/fresh/registrations").text
            #expect(feed.occurrences(of: "<entry ") == 1)
        }
    }
}
