import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct InstallationTests {
    private static let path = "/hub/installations/inst-1?api-version=2020-06"

    @Test func `An installation is put, read and deleted as recorded`() async throws {
        try await withEmulator { emulator in
            let put = try await emulator.install(TestInstallation.minimal)
            #expect(put.status == .ok)
            #expect(put.text.isEmpty)
            #expect(put.headers[.contentLocation] == nil)
            let read = try await emulator.call(.get, Self.path)
            #expect(read.status == .ok)
            #expect(read.headers[.contentType] == "application/xml; charset=utf-8")
            #expect(
                read.text
                    == #"{"installationId":"inst-1","pushChannel":"AB12","pushChannelExpired":false,"platform":"apns","#
                    + #""expirationTime":"9999-12-31T23:59:59.9999999Z"}"#)
            for _ in 0..<2 {
                let deleted = try await emulator.call(.delete, Self.path)
                #expect(deleted.status == .noContent)
                #expect(deleted.headers[.contentType] == HubHeaders.xmlContentType)
            }
            let gone = try await emulator.call(.get, Self.path)
            #expect(gone.status == .notFound)
            #expect(gone.text.hasPrefix("<Error><Code>404</Code><Detail>Installation not found.TrackingId:"))
            #expect(try await emulator.records().map { $0["Kind"] as? String } == ["register", "unregister"])
        }
    }

    @Test func `All members come back in the recorded order`() async throws {
        try await withEmulator { emulator in
            #expect(try await emulator.install(TestInstallation.full).status == .ok)
            let text = try await emulator.call(.get, Self.path).text
            let object = try #require(JSONValue(text: text))
            #expect(
                object.members?.map(\.name) == [
                    "installationId", "pushChannel", "pushChannelExpired", "platform", "expirationTime", "userId",
                    "tags",
                    "pushVariables", "templates", "secondaryTiles",
                ])
            #expect(object["platform"]?.text == "wns")
            #expect(object["templates"]?["t1"] == JSONValue(text: TestInstallation.template))
            #expect(object["secondaryTiles"]?["tile1"]?["tags"] == JSONValue(text: #"["foo3"]"#))
        }
    }

    @Test func `It is listed as registrations and reached by sends to its tags`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(TestInstallation.full)
            let feed = try await emulator.call(.get, "/hub/tags/$InstallationId:%7Binst-1%7D/registrations").text
            let tags = feed.matches(of: /<Tags>([^<]*)<\/Tags>/).map { String($0.output.1) }
            let special = "$InstallationId:{inst-1},$UserId:{alice}"
            #expect(
                tags == [
                    "\(special),foo1,two-words", "\(special),foo1,foo2,two-words", "\(special),foo3", "\(special),foo3",
                ])
            #expect(feed.contains("<TemplateName>t1</TemplateName>"))
            #expect(
                feed.contains("<BodyTemplate><![CDATA[<toast>$(m)</toast>]]></BodyTemplate><WnsHeaders><WnsHeader>"))
            #expect(feed.contains("<ChannelUri>https://tile</ChannelUri><SecondaryTileName>tile1</SecondaryTileName>"))
            #expect(feed.contains(#"<PushVariables>{"v":"1"}</PushVariables>"#))
            #expect(feed.occurrences(of: "9999-12-31T23:59:59.9999999Z") == 4)
            for (tag, format, handles) in [
                ("$UserId:{alice}", "windows", ["https://main", "https://tile"]), ("foo1", "windows", ["https://main"]),
                ("$installationid:{inst-1}", "windows", ["https://main", "https://tile"]),
                ("foo2", "template", ["https://main"]), ("foo2", "windows", []), ("foo3", "windows", ["https://tile"]),
                ("foo3", "template", ["https://tile"]), ("foo1", "apple", []), ("$UserId:{bob}", "windows", []),
            ] {
                _ = try await emulator.send(#"{"m":"hi"}"#, format: format, tags: tag)
                let reached = try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] ?? []
                #expect(reached.sorted() == handles, "\(tag) \(format)")
            }
        }
    }

    @Test func `Registrations keep their IDs through changes and go with their parts`() async throws {
        try await withEmulator { emulator in
            func listed() async throws -> [String] {
                let feed = try await emulator.call(.get, "/hub/registrations").text
                return feed.matches(of: /<ETag>(\d+)<\/ETag>.*?<RegistrationId>([^<]*)</).map {
                    "\($0.output.1) \($0.output.2)"
                }
            }
            _ = try await emulator.install(TestInstallation.full)
            let before = try await listed()
            #expect(before.count == 4)
            let patch = #"[{"op":"remove","path":"/templates/t1"},{"op":"remove","path":"/secondaryTiles/tile1"}]"#
            #expect(try await emulator.call(.patch, Self.path, body: patch).status == .ok)
            #expect(try await listed() == [before[0].replacing("1 ", with: "2 ", maxReplacements: 1)])
            _ = try await emulator.call(.delete, Self.path)
            #expect(try await listed().isEmpty)
        }
    }

    @Test(
        arguments: [
            ("apns", "AB12", "apple", "AB12"), ("APNS", "ab12", "apple", "AB12"),
            ("wns", "https://w", "windows", "https://w"),
            ("mpns", "https://m", "windowsphone", "https://m"), ("gcm", "g", "gcm", "g"), ("fcmv1", "f", "fcmv1", "f"),
            ("fcmV1", "f", "fcmv1", "f"), ("FCMV1", "f", "fcmv1", "f"), ("adm", "a", "adm", "a"),
            ("baidu", "user-channel", "baidu", "user-channel"), ("xiaomi", "x", "xiaomi", "x"),
        ] as [(String, String, String, String)])
    func `Every platform is taken in any case`(
        _ platform: String, _ channel: String, _ format: String, _ handle: String
    ) async throws {
        try await withEmulator { emulator in
            let document = #"{"installationId":"inst-1","platform":"\#(platform)","pushChannel":"\#(channel)"}"#
            #expect(try await emulator.install(document).status == .ok)
            _ = try await emulator.send("{}", format: format, tags: "$InstallationId:{inst-1}")
            #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == [handle])
            let read = try await emulator.call(.get, Self.path).text
            #expect(read.contains(#""platform":"\#(platform.lowercased())""#))
        }
    }

    @Test(arguments: [
        #"{"endpoint":"https://b","p256dh":"p","auth":"a"}"#,
        #""{\"endpoint\":\"https://b\",\"p256dh\":\"p\",\"auth\":\"a\"}""#,
    ])
    func `A browser's channel is an object or its text`(_ channel: String) async throws {
        try await withEmulator { emulator in
            let document = #"{"installationId":"inst-1","platform":"browser","pushChannel":\#(channel)}"#
            #expect(try await emulator.install(document).status == .ok)
            #expect(try await emulator.call(.get, Self.path).text.contains("\"pushChannel\":\(channel),"))
            let feed = try await emulator.call(.get, "/hub/registrations").text
            #expect(feed.contains("<Endpoint>https://b</Endpoint><P256DH>p</P256DH><Auth>a</Auth>"))
        }
    }

    @Test(arguments: [
        "", "{", "[]", "7", #"{"platform":"apns"}"#, #"{"pushChannel":"A"}"#, #"{"platform":"ios","pushChannel":"A"}"#,
        #"{"platform":"apns","pushChannel":7}"#, #"{"platform":"apns","pushChannel":""}"#,
        #"{"installationId":"other","platform":"apns","pushChannel":"A"}"#,
        #"{"platform":"apns","pushChannel":"A","tags":"x"}"#, #"{"platform":"apns","pushChannel":"A","tags":[7]}"#,
        #"{"platform":"apns","pushChannel":"A","tags":["two words"]}"#,
        #"{"platform":"apns","pushChannel":"A","userId":"a","tags":["$UserId:{b}"]}"#,
        #"{"platform":"apns","pushChannel":"A","tags":["$InstallationId:{b}"]}"#,
        #"{"platform":"apns","pushChannel":"A","tags":["a,b"]}"#, #"{"platform":"apns","pushChannel":"A","tags":[""]}"#,
        #"{"platform":"apns","pushChannel":"A","templates":{"t":{}}}"#,
        #"{"platform":"apns","pushChannel":"A","templates":{"t":"x"}}"#,
        #"{"platform":"apns","pushChannel":"A","templates":[]}"#,
        #"{"platform":"apns","pushChannel":"A","expirationTime":"soon"}"#,
        #"{"platform":"apns","pushChannel":"A","secondaryTiles":{"t":{"pushChannel":"c"}}}"#,
        #"{"platform":"wns","pushChannel":"A","secondaryTiles":{"t":{}}}"#,
        #"{"platform":"browser","pushChannel":"https://b"}"#, #"{"platform":"browser","pushChannel":{"endpoint":"e"}}"#,
        #"{"platform":"baidu","pushChannel":"c"}"#, #"{"platform":"apns","pushChannel":"A","userId":7}"#,
        #"{"platform":"apns","pushChannel":"A\u0001"}"#,
        #"{"platform":"apns","pushChannel":"A","tags":[\#((1...61).map { "\"t\($0)\"" }.joined(separator: ","))]}"#,
    ])
    func `What is no installation is 400`(_ document: String) async throws {
        try await withEmulator { emulator in
            let response = try await emulator.install(document)
            #expect(response.status == .badRequest)
            #expect(response.text.hasPrefix("<Error><Code>400</Code><Detail>"))
            #expect(try await emulator.call(.get, Self.path).status == .notFound)
        }
    }

    @Test func `An expired installation is gone`() async throws {
        try await withEmulator { emulator in
            func document(_ time: String) -> String {
                #"{"platform":"apns","pushChannel":"AB12","expirationTime":"\#(time)"}"#
            }
            _ = try await emulator.install(document("2100-01-01T00:00:00.0000000Z"))
            #expect(try await emulator.call(.get, Self.path).text.contains("2100-01-01T00:00:00.0000000Z"))
            let feed = try await emulator.call(.get, "/hub/registrations").text
            #expect(feed.contains("<ExpirationTime>2100-01-01T00:00:00.0000000Z</ExpirationTime>"))
            _ = try await emulator.install(document("2001-01-01T00:00:00"))
            _ = try await emulator.send(tags: "$InstallationId:{inst-1}")
            #expect(try await emulator.records("?Limit=1").first?["Outcome"] as? String == "NoTargetFound")
            #expect(try await emulator.call(.get, Self.path).status == .notFound)
            #expect(try await emulator.call(.get, "/hub/registrations").text.occurrences(of: "<entry ") == 0)
        }
    }

    @Test func `A new channel leaves the old device unregistered`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(TestInstallation.minimal)
            _ = try await emulator.install(#"{"platform":"apns","pushChannel":"CD34"}"#)
            let devices = try await emulator.call(.get, "/emulator/devices", authorization: nil).text
            let list = try JSONSerialization.jsonObject(with: Data(devices.utf8)) as? [[String: Any]] ?? []
            #expect(list.map { $0["Handle"] as? String } == ["AB12", "CD34"])
            #expect(list.map { $0["Registered"] as? Bool } == [false, true])
        }
    }
}

/// Installations as clients send them.
enum TestInstallation {
    static let minimal = #"{"installationId":"inst-1","platform":"apns","pushChannel":"AB12"}"#
    static let template = #"{"body":"<toast>$(m)</toast>","headers":{"X-WNS-Type":"wns/toast"},"tags":["foo2"]}"#
    static let full =
        #"{"installationId":"inst-1","platform":"wns","pushChannel":"https://main","userId":"alice","#
        + #""tags":["foo1","two-words"],"pushVariables":{"v":"1"},"templates":{"t1":\#(template)},"#
        + #""secondaryTiles":{"tile1":{"pushChannel":"https://tile","tags":["foo3"],"#
        + #""templates":{"t2":{"body":"<toast/>"}}}},"novel":{"x":null}}"#
}

extension Emulator {
    func install(_ document: String, id: String = "inst-1") async throws -> TestResponse {
        try await call(
            .put, "/hub/installations/\(id)?api-version=2020-06", headers: [.contentType: "application/json"],
            body: document)
    }
}
