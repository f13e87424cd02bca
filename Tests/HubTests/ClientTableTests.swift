import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

/// Requests as the clients of the reference send them, byte for byte through the real server.
@Suite struct ClientTableTests {
    /// A hub with two registrations, an installation, a send and a deleted registration.
    private func withHub(
        _ test: @escaping @Sendable (_ emulator: Emulator, _ message: String) async throws -> Void
    ) async throws {
        try await withEmulator(.live, hubNames: ["hub"]) { emulator in
            for id in ["123-234-1", "gone"] {
                _ = try await emulator.call(
                    .put, "/hub/registrations/\(id)", headers: TestEntry.headers, body: TestEntry.apple(tags: "tag1"))
            }
            _ = try await emulator.call(.delete, "/hub/registrations/gone", headers: [.ifMatch: "*"])
            _ = try await emulator.call(
                .put, "/hub/registrations/123-234-2", headers: TestEntry.headers,
                body: TestEntry.make("FcmV1RegistrationDescription", "<FcmV1RegistrationId>f:1</FcmV1RegistrationId>"))
            _ = try await emulator.install(
                #"{"platform":"apns","pushChannel":"EF56","tags":["foo"],"templates":{"t1":{"body":"{}"}}}"#)
            _ = try await emulator.call(.put, "/existing", body: HubDescriptionTests.entry())
            let sent = try await emulator.send(tags: "tag1")
            try await test(emulator, sent.headers[.location]?.between("/messages/", "?") ?? "")
        }
    }

    private func check(_ row: ClientRequest) async throws {
        try await withHub { emulator, message in
            let page = try await emulator.call(.get, "/hub/registrations?$top=1")
            let bytes = row.bytes(
                port: emulator.port, message: message, page: page.headers[HubHeaders.continuationToken] ?? "")
            let answer = try await RawExchange.send(bytes, port: emulator.port)
            #expect(answer.status == row.status, "\(answer.body)")
            for text in row.holds.map({ $0.replacing("{MESSAGE}", with: message) }) {
                if text.hasPrefix("!") {
                    #expect(!answer.body.contains(text.dropFirst()), "\(answer.body)")
                } else {
                    #expect(answer.body.contains(text), "\(text) is not in \(answer.body)")
                }
            }
            for (name, start) in row.answers {
                #expect(answer.headers[name]?.hasPrefix(start) == true, "\(name): \(answer.headers[name] ?? "-")")
            }
            #expect(answer.headers["trackingid"]?.isEmpty == false)
            #expect(answer.headers["x-ms-correlation-request-id"]?.isEmpty == false)
        }
    }

    @Test(arguments: ClientRequest.registrations)
    func `Registrations`(_ row: ClientRequest) async throws {
        try await check(row)
    }

    @Test(arguments: ClientRequest.installations)
    func `Installations`(_ row: ClientRequest) async throws {
        try await check(row)
    }

    @Test(arguments: ClientRequest.hubs)
    func `Hubs`(_ row: ClientRequest) async throws {
        try await check(row)
    }

    @Test(arguments: ClientRequest.telemetry)
    func `Telemetry`(_ row: ClientRequest) async throws {
        try await check(row)
    }

    @Test(arguments: ClientRequest.sends)
    func `Sends`(_ row: ClientRequest) async throws {
        try await check(row)
    }

    /// How many rows each operation has: none may get lost unseen.
    @Test func `The table has every operation`() {
        let counts = Dictionary(grouping: ClientRequest.all, by: \.operation).mapValues(\.count)
        #expect(
            counts == [
                "create registration": 50, "create template registration": 50, "create registration id": 7,
                "create or update registration": 7, "create registration with own id": 7, "update registration": 28,
                "get registration": 14, "delete registration": 21, "list registrations": 6,
                "list registrations, first page": 5, "list registrations, next page": 5,
                "list registrations by handle": 10, "list registrations by tag": 10, "put installation": 56,
                "get installation": 14, "delete installation": 14, "patch installation": 62, "create hub": 6,
                "update hub": 6, "get hub": 6, "delete hub": 6, "list hubs": 6, "get message telemetry": 8,
                "get feedback container": 4, "send": 36, "send that is refused": 18, "template send": 9,
                "direct send": 9, "debug send": 3, "batch send": 4, "schedule": 6, "cancel": 6,
            ])
    }

    /// The numbers in `docs/reference/hub-emulator-clients.md` are those of the rows.
    @Test func `The document has the numbers of rows and clients`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/reference")
        let document = try String(contentsOf: folder.appending(path: "hub-emulator-clients.md"), encoding: .utf8)
        let clients = Set(ClientRequest.all.map(\.style.name)).count
        #expect(document.contains("sends \(ClientRequest.all.count) requests in the way of \(clients) clients"))
    }
}

extension ClientRequest {
    /// Every row.
    fileprivate static var all: [ClientRequest] { sends + registrations + installations + hubs + telemetry }
}
