import Domain
import Foundations
import Testing

@testable import Dispatcher

/// `PUSH_SIGNING_KEY_FILE` in a dispatcher's pipeline.
@Suite struct SignedPipelineTests {
    @Test func `Every platform gets the same valid signature`() async throws {
        let bench = DispatchBench()
        let (key, gateway) = (PushSigningKey(), FakeGateway())
        let id = try await bench.stored()
        let signing = bench.with { $0.signer = PushSigner(key: key) }
        try await signing.dispatch([DispatchMessage(id: id)], gateway)
        let apple = try #require(gateway.sent.first { $0.platform == .apple })
        let json = try JSONValue(Array(apple.body.utf8))
        let timestamp = try #require(json["ts"]?.text.flatMap { Int64($0) })
        let signature = PushSignature(timestamp: timestamp, signature: try #require(json["sig"]?.text))
        let alice = try #require(UserName("alice"))
        #expect(key.publicKey.isValid(signature, of: id, recipient: alice))
        #expect(gateway.sent.count == 3)
        #expect(gateway.sent.allSatisfy { $0.body.contains(signature.signature) && $0.body.contains("\(timestamp)") })
    }
    /// `BROWSER_PUSH_URL`.
    @Test func `A declarative push has the signature in both places`() async throws {
        let bench = DispatchBench()
        let (key, gateway) = (PushSigningKey(), FakeGateway())
        let page = "https://app.example.org/"
        let id = try await bench.stored()
        let declaring = bench.with {
            $0.signer = PushSigner(key: key)
            $0.browserPage = page
            $0.policy = DispatchPolicy(platforms: [.browser], maxAttempts: 2)
        }
        try await declaring.dispatch([DispatchMessage(id: id)], gateway)
        let json = try JSONValue(Array(try #require(gateway.sent.first).body.utf8))
        #expect(json["notification"]?["navigate"]?.text == page && json["notification"]?["tag"]?.text == "\(id)")
        let proposed = json["notification"]?["data"]
        for name in ["secureId", "ts", "sig"] {
            #expect(json[name]?.text?.isEmpty == false && json[name]?.text == proposed?[name]?.text, "\(name)")
        }
    }
}
