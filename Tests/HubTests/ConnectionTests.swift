import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Hub

/// `/emulator/connection`, and who gets the key.
@Suite struct ConnectionTests {
    private static let path = "/emulator/connection"

    private func ask(
        _ emulator: Emulator, host: String = "127.0.0.1", fields: [String] = ["Origin: http://127.0.0.1"]
    ) async throws -> RawExchange.Answer {
        let head = ["POST \(Self.path)/key HTTP/1.1", "Host: \(host)", "Content-Length: 0"] + fields
        return try await RawExchange.send(head.joined(separator: "\r\n") + "\r\n\r\n", port: emulator.port)
    }

    @Test func `The description has no key`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("AB12", tags: "username:alice", hub: "Other")
            let response = try await emulator.call(.get, Self.path, authorization: nil)
            #expect(response.status == .ok)
            #expect(response.headers[.cacheControl] == "no-store")
            #expect(!response.text.contains(testKey))
            #expect(response.text.contains("SharedAccessKey=••••"))
            #expect(response.text.contains(#""Hubs":["other"]"#))
            #expect(response.text.contains(#""AnyHub":true,"HasKey":true"#))
        }
    }

    @Test func `Configured hubs are named`() async throws {
        try await withEmulator(hubNames: ["one", "two"]) { emulator in
            let response = try await emulator.call(.get, Self.path, authorization: nil)
            #expect(response.text.contains(#""Hubs":["one","two"]"#))
            #expect(response.text.contains(#""AnyHub":false"#))
        }
    }

    @Test func `The own page gets the key`() async throws {
        try await withEmulator(.live) { emulator in
            for fields in [
                ["Origin: http://127.0.0.1"], ["Origin: http://127.0.0.1", "Sec-Fetch-Site: same-origin"],
            ] {
                let answer = try await ask(emulator, fields: fields)
                #expect(answer.status == 200)
                #expect(answer.body.contains(testKey))
                #expect(answer.headers["cache-control"] == "no-store")
                #expect(answer.headers["access-control-allow-origin"] == nil)
            }
        }
    }

    @Test(arguments: [
        [], ["Origin: https://evil.test"], ["Origin: null"],
        ["Origin: http://127.0.0.1", "Sec-Fetch-Site: cross-site"],
        ["Origin: http://127.0.0.1", "Sec-Fetch-Site: same-site"],
        ["Origin: http://127.0.0.1", "X-Forwarded-For: 192.0.2.1"], ["Origin: http://127.0.0.1", "Forwarded: for=_x"],
        ["Origin: http://127.0.0.1", "Via: 1.1 proxy"],
    ])
    func `Others do not`(_ fields: [String]) async throws {
        try await withEmulator(.live) { emulator in
            let answer = try await ask(emulator, fields: fields)
            #expect(answer.status == 403)
            #expect(!answer.body.contains(testKey))
        }
    }

    @Test func `A rebound name does not`() async throws {
        try await withEmulator(.live) { emulator in
            let answer = try await ask(emulator, host: "evil.test", fields: ["Origin: http://evil.test"])
            #expect(answer.status == 403)
            #expect(!answer.body.contains(testKey))
        }
    }

    @Test func `A GET does not`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(.get, "\(Self.path)/key", authorization: nil)
            #expect(response.status != .ok)
            #expect(!response.text.contains(testKey))
        }
    }

    @Test(arguments: [
        ("192.0.2.7", false), ("127.0.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("fe80::1", false),
    ])
    func `Only this machine does`(_ address: String, _ isAllowed: Bool) throws {
        let peer = try SocketAddress(ipAddress: address, port: 4000)
        #expect(ConnectionController.isOfThisMachine(peer) == isAllowed)
    }
}
