import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct RegistrationTests {
    @Test func `An ID is made`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.post, "/hub/registrationIDs/?api-version=2015-01")
            #expect(response.status == .created)
            #expect(response.text.isEmpty)
            #expect(response.headers[.contentType] == nil)
            let shape = /http:\/\/localhost\/hub\/registrationids\/\d+-\d+-\d+\?api-version=2015-01/
            #expect(response.headers[.location]?.wholeMatch(of: shape) != nil)
        }
    }

    @Test func `A registration is created, read, updated and deleted`() async throws {
        try await withEmulator { emulator in
            let created = try await emulator.call(
                .post, "/hub/registrations/?api-version=2020-06", headers: TestEntry.headers,
                body: TestEntry.apple("ab12", tags: "one, Two"))
            #expect(created.status == .ok)
            #expect(created.headers[.eTag] == "W/\"1\"")
            #expect(created.headers[.contentType] == AtomEntry.contentType)
            let location = try #require(created.headers[.contentLocation])
            #expect(created.text.contains("<Tags>one,Two</Tags><DeviceToken>AB12</DeviceToken>"))
            let path = try #require(location.between("http://localhost", "?"))
            let read = try await emulator.call(.get, path)
            #expect(read.status == .ok)
            let updated = try await emulator.call(
                .put, path, headers: TestEntry.headers, body: TestEntry.apple("ab12", tags: "three"))
            #expect(updated.headers[.eTag] == "W/\"2\"")
            // Recorded: only the answer to a POST has it.
            for response in [read, updated] { #expect(response.headers[.contentLocation] == nil) }
            #expect(updated.text.contains("<ETag>2</ETag>"))
            let deleted = try await emulator.call(.delete, path, headers: [.ifMatch: "*"])
            #expect(deleted.status == .ok)
            #expect(deleted.text.isEmpty)
            #expect(deleted.headers[.contentType] == nil)
            let gone = try await emulator.call(.get, path)
            #expect(gone.status == .notFound)
            #expect(gone.detail?.hasPrefix(".TrackingId:") == true)
        }
    }

    @Test func `Elements come in the recorded order`() async throws {
        try await withEmulator { emulator in
            let entry = TestEntry.make(
                "AppleRegistrationDescription",
                "<DeviceToken>ab</DeviceToken><Novel x=\"1\"><Inner>&lt;</Inner></Novel>"
                    + "<PushVariables>{}</PushVariables><Tags>t</Tags><ETag>9</ETag>")
            let text = try await emulator.call(
                .put, "/hub/registrations/123-234-1", headers: TestEntry.headers, body: entry
            ).text
            let description = try #require(text.between("<content type=\"application/xml\">", "</content>"))
            let root = try XMLReader.read(Array(description.utf8))
            #expect(
                root.children.map(\.name) == [
                    "ETag", "ExpirationTime", "RegistrationId", "Tags", "PushVariables", "DeviceToken", "Novel",
                ])
            #expect(root.child("ETag")?.text == "1")
            #expect(root.child("RegistrationId")?.text == "123-234-1")
            #expect(root.child("ExpirationTime")?.text == "9999-12-31T23:59:59.999")
            #expect(root.child("Novel")?.child("Inner")?.text == "<")
            let document = try XMLReader.read(Array(text.utf8))
            #expect(document.children.map(\.name) == ["id", "title", "published", "updated", "link", "content"])
            #expect(document.attributes == [.init(namespace: XMLNamespace.metadata, name: "etag", value: "W/\"1\"")])
        }
    }

    @Test(
        arguments: [
            ("Apple", "<DeviceToken>AB</DeviceToken>"), ("FcmV1", "<FcmV1RegistrationId>f</FcmV1RegistrationId>"),
            ("Gcm", "<GcmRegistrationId>g</GcmRegistrationId>"), ("Windows", "<ChannelUri>https://w</ChannelUri>"),
            ("Mpns", "<ChannelUri>https://m</ChannelUri>"), ("Adm", "<AdmRegistrationId>a</AdmRegistrationId>"),
            ("Baidu", "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId>"),
            ("Browser", "<Endpoint>https://b</Endpoint><P256DH>p</P256DH><Auth>a</Auth>"),
            ("Xiaomi", "<XiaomiRegistrationId>x</XiaomiRegistrationId>"),
        ] as [(String, String)])
    func `Every platform registers native and template`(_ prefix: String, _ fields: String) async throws {
        try await withEmulator { emulator in
            let template = "<BodyTemplate><![CDATA[$(a)<]]></BodyTemplate><TemplateName>n</TemplateName>"
            for (element, inner) in [
                ("\(prefix)RegistrationDescription", fields),
                ("\(prefix)TemplateRegistrationDescription", fields + template),
            ] {
                let response = try await emulator.call(
                    .post, "/hub/registrations", headers: TestEntry.headers, body: TestEntry.make(element, inner))
                #expect(response.status == .ok, "\(response.text)")
                #expect(response.text.contains("<\(element) "))
                #expect(response.text.contains(fields))
                let without = try await emulator.call(
                    .post, "/hub/registrations", headers: TestEntry.headers, body: TestEntry.make(element, ""))
                #expect(without.status == .badRequest)
            }
        }
    }

    @Test(
        arguments: [
            ("", "not xml"), ("", "<entry/>"), ("", "<entry xmlns='http://www.w3.org/2005/Atom'/>"),
            ("", TestEntry.make("OtherRegistrationDescription", "<DeviceToken>A</DeviceToken>")),
            ("", TestEntry.make("Apple", "<DeviceToken>A</DeviceToken>")), ("", TestEntry.apple("a", tags: "b c")),
            ("", TestEntry.apple("a", tags: (1...61).map { "t\($0)" }.joined(separator: ","))),
            ("", TestEntry.make("AppleTemplateRegistrationDescription", "<DeviceToken>A</DeviceToken>")),
            ("", "<!DOCTYPE entry [<!ENTITY x 'y'>]>" + TestEntry.apple("a")),
        ] as [(String, String)])
    func `Bad entries are 400`(_ name: String, _ body: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(
                .post, "/hub/registrations", headers: TestEntry.headers, body: body)
            #expect(response.status == .badRequest)
            #expect(response.text.hasPrefix("<Error><Code>400</Code>"))
        }
    }

    @Test(
        arguments: [
            ("*", HTTPResponse.Status.ok), ("\"1\"", .ok), ("W/\"1\"", .ok), ("1", .ok), ("\"2\"", .preconditionFailed),
            ("W/\"0\"", .preconditionFailed), ("\"x\"", .preconditionFailed),
        ] as [(String, HTTPResponse.Status)])
    func `If-Match is honoured`(_ condition: String, _ status: HTTPResponse.Status) async throws {
        try await withEmulator { emulator in
            let headers = TestEntry.headers
            _ = try await emulator.call(.put, "/hub/registrations/1", headers: headers, body: TestEntry.apple())
            var conditional = headers
            conditional[.ifMatch] = condition
            let updated = try await emulator.call(
                .put, "/hub/registrations/1", headers: conditional, body: TestEntry.apple())
            #expect(updated.status == status)
            let absent = try await emulator.call(
                .put, "/hub/registrations/2", headers: conditional, body: TestEntry.apple())
            #expect(absent.status == .notFound)
            _ = try await emulator.call(.put, "/hub/registrations/3", headers: headers, body: TestEntry.apple())
            let deleted = try await emulator.call(.delete, "/hub/registrations/3", headers: [.ifMatch: condition])
            #expect(deleted.status == status)
        }
    }

    @Test func `Deleting needs If-Match and something to delete`() async throws {
        try await withEmulator { emulator in
            #expect(try await emulator.call(.delete, "/hub/registrations/1").status == .badRequest)
            let absent = try await emulator.call(.delete, "/hub/registrations/1", headers: [.ifMatch: "*"])
            #expect(absent.status == .notFound)
        }
    }

    @Test func `IDs that are no IDs are 400`() async throws {
        try await withEmulator { emulator in
            for id in ["a%20b", "a%2Fb", "%3Cx%3E", String(repeating: "1", count: 257)] {
                let response = try await emulator.call(
                    .put, "/hub/registrations/\(id)", headers: TestEntry.headers, body: TestEntry.apple())
                #expect(response.status == .badRequest)
            }
        }
    }
}
