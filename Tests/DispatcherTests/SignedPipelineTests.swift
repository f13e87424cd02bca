import Domain
import Foundations
import Logging
import Testing

@testable import Dispatcher

/// `PUSH_SIGNING_KEY_FILE` in a dispatcher's pipeline.
@Suite struct SignedPipelineTests {
    @Test func everyPlatformGetsTheSameValidSignature() async throws {
        let bench = DispatchPipelineTests()
        let (key, gateway) = (PushSigningKey(), FakeGateway())
        let id = try await bench.stored()
        let pipeline = DispatchPipeline(
            consumer: bench.broker, publisher: bench.broker, store: bench.store, gateway: gateway,
            policy: bench.policy, signer: PushSigner(key: key), logger: Logger(label: "test"))
        bench.broker.deliver(DispatchMessage(id: id))
        bench.broker.drain()
        try await pipeline.run()
        let apple = try #require(gateway.sent.first { $0.platform == .apple })
        let json = try JSONValue(Array(apple.body.utf8))
        let timestamp = try #require(json["ts"]?.text.flatMap { Int64($0) })
        let signature = PushSignature(timestamp: timestamp, signature: try #require(json["sig"]?.text))
        let alice = try #require(UserName("alice"))
        #expect(key.publicKey.isValid(signature, of: id, recipient: alice))
        #expect(gateway.sent.count == 3)
        #expect(gateway.sent.allSatisfy { $0.body.contains(signature.signature) && $0.body.contains("\(timestamp)") })
    }
}
