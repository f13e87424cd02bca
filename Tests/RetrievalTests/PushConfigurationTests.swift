import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceConfiguration
import Testing

@testable import Retrieval

/// `GET /api/push-config` and `WEB_PUSH_PUBLIC_KEY`.
@Suite struct PushConfigurationTests {
    /// Of RFC 8291, appendix A.
    static let key =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"

    @Test func `Everybody gets the key and may keep it for five minutes`() async throws {
        try await withRetrieval { bench in
            for authorization in [nil, "Bearer nobody"] {
                let answer = try await bench.request(.get, "/api/push-config", by: authorization, contentType: nil)
                #expect(answer.status == .ok)
                #expect(answer.headers[.cacheControl] == "max-age=300")
                #expect(answer.headers[.contentType] == "application/json")
                #expect(String(buffer: answer.body) == "{\"ApplicationServerKey\":\"\(Self.key)\"}")
            }
        }
    }

    @Test func `Without the setting there is no key`() async throws {
        try await withRetrieval(issuesTokens: false) { bench in
            let answer = try await bench.request(.get, "/api/push-config", by: nil, contentType: nil)
            #expect(answer.status == .notFound)
        }
    }

    @Test func `Only a point on the curve is a key`() {
        var reader = ConfigurationReader(environment: ["WEB_PUSH_PUBLIC_KEY": Self.key])
        #expect(reader[\.webPushPublicKey]?.text == Self.key && reader.issues.isEmpty)
        let point = Base64.decode(Self.key, .url) ?? []
        let others: [[UInt8]] = [
            point.dropLast(), point + [0], [2] + point.dropFirst(), point.dropLast() + [point[64] ^ 1],
            [4] + Array(repeating: 0, count: 64),
        ]
        for text in others.map({ Base64.encode($0, .url) }) + [Self.key + "=", Base64.encode(point, .standard)] {
            var reader = ConfigurationReader(environment: ["WEB_PUSH_PUBLIC_KEY": text])
            #expect(reader[\.webPushPublicKey] == nil, "\(text)")
            #expect(reader.issues.count == 1, "\(text)")
        }
    }
}
