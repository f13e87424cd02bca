import Foundations
import Synchronization
import Testing

@testable import NotificationHubs

@Suite struct SharedAccessSignatureTests {
    /// Expected values made independently with Python:
    /// `sr = quote(resource.lower(), safe='~')`,
    /// `sig = quote(b64encode(hmac.new(key.encode(), f"{sr}\n{exp}".encode(), sha256).digest()), safe='')`.
    @Test(arguments: [
        (
            "https://NS.servicebus.windows.net/MyHub", "DefaultFullSharedAccessSignature", "c2VjcmV0LWtleQ==",
            Int64(1_780_000_000),
            "SharedAccessSignature sr=https%3A%2F%2Fns.servicebus.windows.net%2Fmyhub"
                + "&sig=AKeucCO0sq8t0KU6WW1VcNMhmt6EsPYOWY%2FIiGc4Ca8%3D&se=1780000000"
                + "&skn=DefaultFullSharedAccessSignature"
        ),
        (
            "http://127.0.0.1:9000/hub", "Rule", "plain", 1,
            "SharedAccessSignature sr=http%3A%2F%2F127.0.0.1%3A9000%2Fhub"
                + "&sig=AF9CQnnT89oaRmOcq9dvmrRCi2OK4nF7Jie7SEcqP2I%3D&se=1&skn=Rule"
        ),
        (
            "https://ns.servicebus.windows.net/hub", "Regel mit Blank/ä", "schlüssel+/=", 2_000_000_000,
            "SharedAccessSignature sr=https%3A%2F%2Fns.servicebus.windows.net%2Fhub"
                + "&sig=RM3oGVQz1iBB3SpZzKZsq5yHieEyMB4AL6JGnkVWoeQ%3D&se=2000000000"
                + "&skn=Regel%20mit%20Blank%2F%C3%A4"
        ),
    ])
    func `Tokens are those of the vectors`(
        _ resource: String, _ name: String, _ key: String, _ expiry: Int64, _ token: String
    ) {
        let signature = SharedAccessSignature(resource: resource, keyName: name, key: key)
        #expect(signature.token(expiresAt: expiry) == token)
    }
}

@Suite struct SharedAccessTokensTests {
    /// A clock that the test moves.
    private final class Clock: Sendable {
        let time = Mutex(Timestamp(milliseconds: 1_780_000_000_500))
        func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    private func tokens(_ clock: Clock) throws -> SharedAccessTokens {
        SharedAccessTokens(configuration: try localHub(port: 9000)) { clock.time.withLock { $0 } }
    }

    @Test func `Is kept for two thirds of its life`() throws {
        let clock = Clock()
        let tokens = try tokens(clock)
        let first = tokens.current
        #expect(first.text.contains("&se=1780003600&"))
        clock.advance(.seconds(2399))
        #expect(tokens.current.text == first.text)
        clock.advance(.seconds(1))
        let second = tokens.current
        #expect(second.text.contains("&se=1780006000&"))
        #expect(second.number != first.number)
    }

    @Test func `Is made anew once after a refusal`() throws {
        let clock = Clock()
        let tokens = try tokens(clock)
        let first = tokens.current
        clock.advance(.seconds(10))
        tokens.invalidate(first.number)
        let second = tokens.current
        #expect(second.text != first.text)
        tokens.invalidate(first.number)
        #expect(tokens.current.number == second.number)
    }
}
