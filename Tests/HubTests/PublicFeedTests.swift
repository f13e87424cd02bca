import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// Reads of hubs that do not exist or with a wrong key, as recorded in 2020.
@Suite struct PublicFeedTests {
    static let title = "<title type=\"text\">Publicly Listed Services</title>"

    @Test func `A hub that does not exist is an empty feed`() async throws {
        try await withEmulator(hubNames: ["hub"]) { emulator in
            let response = try await emulator.call(.get, "/none?api-version=2017-04")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == AtomEntry.feedContentType)
            let feed = try XMLReader.read(Array(response.text.utf8))
            #expect(feed.name == "feed")
            #expect(feed.children.map(\.name) == ["title", "subtitle", "id", "updated", "generator"])
            #expect(feed.child("title")?.text == "Publicly Listed Services")
            #expect(feed.child("id")?.text.wholeMatch(of: /uuid:[-0-9a-f]{36};id=1/) != nil)
            #expect(feed.child("generator")?.text == "Service Bus 1.1")
            #expect(try await emulator.call(.delete, "/none").status == .notFound)
        }
    }

    @Test(
        arguments: [
            (.get, "Manage claim is required for this operation."),
            (.put, "InvalidSignature: The token has an invalid signature."),
            (.delete, "InvalidSignature: The token has an invalid signature."),
        ] as [(HTTPRequest.Method, String)])
    func `A wrong key is 401`(_ method: HTTPRequest.Method, _ detail: String) async throws {
        try await withEmulator(hubNames: ["hub"]) { emulator in
            for path in ["/hub", "/none"] {
                let response = try await emulator.call(
                    method, path, body: method == .put ? HubDescriptionTests.entry() : nil,
                    authorization: TestToken.make(key: "wrong"))
                #expect(response.status == .unauthorized)
                #expect(response.detail?.hasPrefix("\(detail).TrackingId:") == true, "\(response.text)")
            }
            let none = try await emulator.call(.get, "/hub", authorization: nil)
            #expect(none.detail?.hasPrefix("MissingToken") == true)
        }
    }
}
