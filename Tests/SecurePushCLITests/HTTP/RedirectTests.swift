import Foundation
import Testing

@testable import SecurePushCLI

/// Servers that send the command line elsewhere, or never end.
@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    @Test(arguments: [301, 302, 303, 307, 308])
    func `No redirect is followed, and the message names the other host alone`(status: Int) async throws {
        try await ScriptedServer.with { _, _ in
            .init(status: 200, body: "{}")
        } _: { other in
            let location = other.url.replacing("http://", with: "http://u:spk_secret@") + "/x?sig=spk_secret"
            try await ScriptedServer.with { _, _ in
                .init(status: status, headers: ["Location": location])
            } _: { server in
                for method in [APIClient.Method.get, .post, .put, .delete] {
                    var client = try APIClient(service: "ingest", url: server.url)
                    client.authorization = "Bearer k"
                    let failure = await #expect(throws: CommandFailure.self) {
                        _ = try await client.send(method, "/x", json: #"{"a":1}"#)
                    }
                    #expect(failure?.code == .failed && failure?.message.contains("\(status)") == true)
                    #expect(failure?.message.contains(other.url) == true, "\(String(describing: failure))")
                    #expect(failure?.message.contains("spk_secret") == false)
                }
                let client = try APIClient(service: "hub-emulator", url: server.url)
                await #expect(throws: CommandFailure.self) { try await client.stream("/s", opened: {}) { _ in } }
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test func `A redirect without an address is refused too`() async throws {
        try await ScriptedServer.with { _, _ in
            .init(status: 302, headers: ["Location": "/login"])
        } _: { server in
            let client = try APIClient(service: "ingest", url: server.url)
            let failure = await #expect(throws: CommandFailure.self) { _ = try await client.send(.get, "/x") }
            #expect(failure?.message.contains("Redirects are not followed") == true)
        }
    }

    /// A body that has begun and does not end.
    @Test(arguments: [200, 404, 503])
    func `One deadline covers head and body`(status: Int) async throws {
        try await ScriptedServer.with { _, _ in
            .init(status: status, body: "{", staysOpen: true)
        } _: { server in
            let client = try APIClient(service: "ingest", url: server.url, timeout: .milliseconds(500))
            let failure = await #expect(throws: CommandFailure.self) { _ = try await client.send(.get, "/x") }
            #expect(failure?.code == .unreachable && failure?.message.contains("no answer in time") == true)
        }
    }
}
