import Domain
import Foundations
import Testing

@testable import PushServices

@Suite struct VAPIDTokensTests {
    private static let start = Timestamp(milliseconds: 1_790_000_000_000)
    private let key = ES256Key()
    private let tokens = VAPIDTokens(subject: "mailto:push@example.org")
    private let apple = PushOrigin(host: "web.push.apple.com")

    private func token(_ origin: PushOrigin? = nil, _ key: ES256Key? = nil, after: Duration) throws -> String {
        try #require(tokens.token(for: origin ?? apple, key: key ?? self.key, now: Self.start + after)).authorization
    }

    /// Each signature is another, so equal texts are one token.
    @Test func `A token is used for hours`() throws {
        let first = try token(after: .zero)
        #expect(try token(after: .seconds(3_600)) == first)
        #expect(try token(after: .seconds(6 * 3_600)) == first)
        let second = try token(after: .seconds(6 * 3_600 + 1))
        #expect(second != first)
        #expect(try token(after: .seconds(11 * 3_600)) == second)
    }

    @Test func `Each push service and each key has its own`() throws {
        let first = try token(after: .zero)
        #expect(try token(PushOrigin(host: "web.push.apple.com", port: 8_443), after: .zero) != first)
        #expect(try token(apple, ES256Key(), after: .zero) != first)
        #expect(try token(after: .zero) == first)
    }

    @Test func `A clock that is set makes no token that lives longer than a day`() throws {
        let first = try token(after: .zero)
        // An hour back: Apple wants no new token.
        #expect(try token(after: .seconds(-3_600)) == first)
        #expect(try token(after: .seconds(-6 * 3_600 - 1)) != first)
    }

    @Test func `The number of tokens has a bound`() throws {
        let first = try token(after: .zero)
        for number in 0..<1_000 {
            _ = try token(PushOrigin(host: "a\(number).example.org"), after: .seconds(1))
        }
        #expect(try token(after: .seconds(2)) != first)
    }

    @Test func `Only the token that was accepted is proven`() throws {
        let first = try #require(tokens.token(for: apple, key: key, now: Self.start))
        #expect(!first.isProven)
        tokens.prove(first, for: apple, key: key)
        #expect(try #require(tokens.token(for: apple, key: key, now: Self.start)).isProven)
        let later = Self.start + .seconds(7 * 3_600)
        #expect(try !#require(tokens.token(for: apple, key: key, now: later)).isProven)
        // An answer to a push with the former token comes late.
        tokens.prove(first, for: apple, key: key)
        #expect(try !#require(tokens.token(for: apple, key: key, now: later)).isProven)
    }
}
