import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct RegistrationListTests {
    @Test(
        arguments: [
            ("ChannelUri+eq+'ab12'", "AB12"), ("ChannelUri%20eq%20'AB12'", "AB12"),
            ("DeviceToken+eq+%27AB12%27", "AB12"),
            ("channeluri eq 'f:1'", "f:1"), ("FcmV1RegistrationId+eq+'f:1'", "f:1"), ("GcmRegistrationId+eq+'g'", "g"),
            ("ChannelUri+eq+'https%3A%2F%2Fw.test%2F%3Fa%3D1%26b%3D2'", "https://w.test/?a=1&amp;b=2"),
            ("AdmRegistrationId+eq+'o''ne'", "o'ne"),
            ("Endpoint+eq+'https://b'+and+P256DH+eq+'p'+and+Auth+eq+'x'", "https://b"),
        ] as [(String, String)])
    func `Filters by handle`(_ filter: String, _ handle: String) async throws {
        try await withEmulator { emulator in
            try await emulator.register("ab12", tags: "t")
            for (handle, prefix, field) in [
                ("f:1", "FcmV1", "FcmV1RegistrationId"), ("g", "Gcm", "GcmRegistrationId"),
                ("https://w.test/?a=1&amp;b=2", "Windows", "ChannelUri"), ("o'ne", "Adm", "AdmRegistrationId"),
            ] {
                try await emulator.register(
                    handle, tags: "t", element: "\(prefix)RegistrationDescription", field: field)
            }
            for auth in ["x", "y"] {
                let entry = "<Endpoint>https://b</Endpoint><P256DH>p</P256DH><Auth>\(auth)</Auth>"
                _ = try await emulator.call(
                    .post, "/hub/registrations", headers: TestEntry.headers,
                    body: TestEntry.make("BrowserRegistrationDescription", entry))
            }
            for name in ["$filter", "%24filter"] {
                let encoded = filter.replacing(" ", with: "%20")
                let response = try await emulator.call(
                    .get, "/hub/registrations?api-version=2020-06&\(name)=\(encoded)")
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == AtomEntry.feedContentType)
                #expect(response.text.occurrences(of: "<entry ") == 1, "\(response.text)")
                #expect(response.text.contains(">\(handle)<"), "\(response.text)")
            }
        }
    }

    @Test(arguments: [
        "x", "Tags+eq+'a'", "DeviceToken+eq+a", "DeviceToken+ne+'a'", "DeviceToken+eq+'a", "DeviceToken+eq+'a'+or",
    ])
    func `Other filters are 400`(_ filter: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "/hub/registrations?$filter=\(filter)")
            #expect(response.status == .badRequest)
        }
    }

    @Test(arguments: ["$top", "%24top", "%24Top"], ["continuationtoken", "ContinuationToken"])
    func `Pages follow one another`(_ top: String, _ tokenName: String) async throws {
        try await withEmulator { emulator in
            for number in 0..<7 { try await emulator.register("0\(number)", tags: "t") }
            for path in ["/hub/registrations", "/hub/tags/T/registrations"] {
                var handles: [String] = []
                var token: String?
                for escaped in [false, true, false] {
                    // Some clients paste the token as it came, some escape it once more.
                    let value = token.map { escaped ? $0.replacing("%", with: "%25") : $0 }
                    let next = value.map { "&\(tokenName)=\($0)" } ?? ""
                    let response = try await emulator.call(.get, "\(path)?api-version=2020-06&\(top)=3\(next)")
                    token = response.headers[HubHeaders.continuationToken]
                    try Self.checkNext(response.text, path: path, token: token)
                    handles += response.text.matches(of: /<DeviceToken>(\d+)</).map { String($0.output.1) }
                }
                #expect(handles == ["00", "01", "02", "03", "04", "05", "06"])
                #expect(token == nil)
            }
        }
    }

    /// Recorded: a link beside the header, in which the token is encoded once more; and all below the list's path.
    private static func checkNext(_ text: String, path: String, token: String?) throws {
        let feed = try XMLReader.read(Array(text.utf8))
        let next = feed.children.first { $0.name == "link" && $0.attribute("rel") == "next" }
        let expected = token.map { token in
            #expect(token.hasSuffix("%3D%3D"), "\(token)")
            return "http://localhost\(path)?api-version=2020-06&%24top=3&continuationtoken="
                + token.replacing("%", with: "%25")
        }
        #expect(next?.attribute("href") == expected)
        for entry in feed.children where entry.name == "entry" {
            let id = try #require(entry.child("title")?.text)
            let url = "http://localhost\(path)/\(id)?api-version=2020-06&"
            #expect(entry.child("id")?.text.hasPrefix(url) == true, "\(text)")
            #expect(entry.child("link")?.attribute("href")?.hasPrefix(url) == true)
        }
    }

    @Test func `A filter's quotes are found beside combining marks`() async throws {
        try await withEmulator { emulator in
            try await emulator.register(
                "\u{301}g", tags: "t", element: "GcmRegistrationDescription", field: "GcmRegistrationId")
            let response = try await emulator.call(
                .get, "/hub/registrations?$filter=GcmRegistrationId%20eq%20'%CC%81g'")
            #expect(response.status == .ok, "\(response.text)")
            #expect(response.text.occurrences(of: "<entry ") == 1)
        }
    }

    @Test func `A page has at most a hundred`() async throws {
        try await withEmulator { emulator in
            for number in 0..<101 { try await emulator.register("0\(number)", tags: "t") }
            for query in ["", "?$top=1000"] {
                let response = try await emulator.call(.get, "/hub/registrations\(query)")
                #expect(response.text.occurrences(of: "<entry ") == 100)
                #expect(response.headers[HubHeaders.continuationToken] != nil)
            }
            #expect(try await emulator.call(.get, "/hub/registrations?$top=0").status == .badRequest)
            let bad = try await emulator.call(.get, "/hub/registrations?continuationtoken=zzz")
            #expect(bad.status == .badRequest)
        }
    }

    @Test func `The feed is Atom`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            let text = try await emulator.call(.get, "/hub/registrations").text
            let feed = try XMLReader.read(Array(text.utf8))
            #expect(feed.name == "feed")
            #expect(feed.children.map(\.name) == ["title", "id", "updated", "link", "entry"])
            #expect(feed.child("title")?.text == "Registrations")
        }
    }
}
