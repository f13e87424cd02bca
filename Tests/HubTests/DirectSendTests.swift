import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// The direct route of a plain send, and the router's, to which a query that it does not know leads.
@Suite struct DirectSendTests {
    private static let uris = ["/hub/messages?api-version=2020-06", "/hub/messages/?api-version=2020-06&x=1"]

    @Test(arguments: uris) func `A send is answered and recorded alike on both ways`(_ uri: String) async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.register(String(repeating: "ab", count: 32), tags: "one")
            let response = try await emulator.send(tags: "one", headers: [HubHeaders.applePushType: "alert"], uri: uri)
            #expect(response.status == .created)
            #expect(response.headers[values: .contentLength] == ["0"])
            #expect(response.headers[.contentType] == HubHeaders.xmlContentType)
            #expect(response.headers[HubHeaders.trackingID] != nil)
            let location = try #require(response.headers[.location])
            #expect(location.contains("/hub/messages/"), "\(location)")
            let record = try #require(try await emulator.records().first)
            #expect(record["Hub"] as? String == "hub")
            #expect(record["Tags"] as? String == "one")
            #expect(record["Deliveries"] as? [String] == [String(repeating: "AB", count: 32)])
        }
    }

    @Test(arguments: uris) func `A refusal has the same form on both ways`(_ uri: String) async throws {
        try await withEmulator(.live) { emulator in
            let response = try await emulator.send(format: "iphone", uri: uri)
            #expect(response.status == .badRequest)
            #expect(response.headers[values: .contentLength].count == 1)
            #expect(response.text.hasPrefix("<Error><Code>400</Code><Detail>"))
            let foreign = try await emulator.call(
                .post, uri, headers: [HubHeaders.format: "apple"], body: "{}", authorization: nil)
            #expect(foreign.status == .unauthorized)
        }
    }

    @Test(arguments: uris) func `Faults count on both ways`(_ uri: String) async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.addFault(#"{"Operation":"send","Status":503}"#)
            #expect(try await emulator.send(uri: uri).status == .serviceUnavailable)
        }
    }
}
