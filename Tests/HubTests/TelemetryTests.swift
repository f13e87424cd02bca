import Foundations
import HTTPTypes
import HummingbirdTesting
import Storage
import Testing

@testable import Hub

@Suite struct TelemetryTests {
    private func details(_ emulator: Emulator, tags: String?, body: String = "{}") async throws -> XMLElement {
        let sent = try await emulator.send(body, tags: tags)
        let id = try #require(sent.headers[.location]?.between("/messages/", "?"))
        let response = try await emulator.call(.get, "/hub/messages/\(id)?api-version=2020-06")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/xml; charset=utf-8")
        return try XMLReader.read(Array(response.text.utf8))
    }

    @Test func `A send is found with its outcomes`() async throws {
        try await withEmulator { emulator in
            for handle in ["a1", "a2", "a3"] { try await emulator.register(handle, tags: "t") }
            let details = try await details(emulator, tags: "t || u", body: "{\"a\":\"<&\u{1}\"}")
            #expect(details.name == "NotificationDetails")
            #expect(details.namespace == XMLNamespace.connect)
            #expect(
                details.children.map(\.name) == [
                    "NotificationId", "Location", "State", "EnqueueTime", "StartTime", "EndTime", "NotificationBody",
                    "Tags",
                    "TargetPlatforms", "ApnsOutcomeCounts",
                ])
            #expect(details.child("State")?.text == "Completed")
            #expect(details.child("NotificationBody")?.text == "{\"a\":\"<&\u{FFFD}\"}")
            #expect(details.child("Tags")?.text == "t || u")
            #expect(details.child("TargetPlatforms")?.text == "apple")
            let outcome = try #require(details.child("ApnsOutcomeCounts")?.child("Outcome"))
            #expect(outcome.children.map(\.name) == ["Name", "Count"])
            #expect(outcome.children.map(\.text) == ["Success", "3"])
            let id = try #require(details.child("NotificationId")?.text)
            #expect(details.child("Location")?.text == "sb://localhost/hub/messages/\(id)?api-version=2020-06")
        }
    }

    @Test func `A send to nobody found no target`() async throws {
        try await withEmulator { emulator in
            let details = try await details(emulator, tags: "nobody")
            #expect(details.child("State")?.text == "NoTargetFound")
            #expect(details.child("TargetPlatforms") == nil)
        }
    }

    @Test(arguments: ["/hub/messages/unknown", "/other/messages/{ID}"]) func `Other IDs are 404`(_ path: String)
        async throws
    {
        try await withEmulator { emulator in
            let sent = try await emulator.send()
            let id = try #require(sent.headers[.location]?.between("/messages/", "?"))
            let response = try await emulator.call(.get, path.replacing("{ID}", with: id))
            #expect(response.status == .notFound)
            #expect(response.text.hasPrefix("<Error><Code>404</Code>"))
        }
    }

    @Test func `Every platform's counts stand in the order that .NET reads`() throws {
        let message = HubMessage(
            id: "1", hub: "hub", state: "Completed", enqueuedAt: .now,
            outcomes: NotificationFormat.platforms.flatMap { platform in
                [("BadChannel", 1), ("A", 2), (HubMessage.unknown, 3)].map {
                    HubOutcome(platform: platform.rawValue, name: $0, count: $1)
                }
            }, body: [], purgeAt: .now)
        let call = HubCall(hub: "hub", base: "http://h/hub", rawQuery: nil)
        let document = try XMLReader.read(Array(message.document(call).utf8))
        #expect(
            document.children.map(\.name).dropFirst(5) == [
                "ApnsOutcomeCounts", "MpnsOutcomeCounts", "WnsOutcomeCounts", "GcmOutcomeCounts", "AdmOutcomeCounts",
                "FcmV1OutcomeCounts", "BaiduOutcomeCounts", "BrowserOutcomeCounts", "XiaomiOutcomeCounts",
            ])
        #expect(
            document.child("AdmOutcomeCounts")?.children.compactMap { $0.child("Name")?.text } == ["A", "BadChannel"])
    }
}
