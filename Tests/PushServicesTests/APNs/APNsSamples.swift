import Crypto
import Domain
import Foundations
import Logging
import Synchronization

@testable import PushServices

extension APNsConfiguration {
    static let sampleTopic = "org.example.app"
    static let sampleTeam = "DEF1234567"
    static let sampleKeyID = "ABC1234567"

    static func sample(
        _ key: ES256Key = ES256Key(), topic: String = sampleTopic, endpoint: String? = nil
    ) throws -> APNsConfiguration {
        try APNsConfiguration(
            key: key, keyID: sampleKeyID, teamID: sampleTeam, topic: topic, endpoint: endpoint)
    }
}

extension ES256Key {
    /// SubjectPublicKeyInfo in PEM.
    var publicPEM: String {
        get throws { try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey.pemRepresentation }
    }
}

extension APNsTokens.Token {
    /// The claims of the token, as they are signed.
    var claims: String? {
        let parts = authorization.split(separator: ".")
        return parts.count == 3 ? Base64.decode(parts[1], .url).map { String(decoding: $0, as: UTF8.self) } : nil
    }
}

/// A store of tokens whose clock stands still until a test moves it, and that fails or hangs as a test says.
final class TestTokenStore: SharedPushTokens {
    struct Failure: Error {}

    private struct State: Sendable {
        var tokens: [String: SharedPushToken] = [:]
        var time = Duration.zero
        var fails = false
        var hangs = false
        var isReadOnly = false
        var reads = 0
        var written: [SharedPushToken] = []
        var hanging: [CheckedContinuation<Void, Never>] = []
    }

    static let start = Timestamp(milliseconds: 1_790_000_000_000)
    private let begin = ContinuousClock.now
    private let state = Mutex(State())

    var now: Timestamp { Self.start + state.withLock { $0.time } }
    var instant: ContinuousClock.Instant { begin + state.withLock { $0.time } }
    var reads: Int { state.withLock { $0.reads } }
    /// The tokens that were stored, in their order.
    var written: [SharedPushToken] { state.withLock { $0.written } }

    func advance(by time: Duration) { state.withLock { $0.time += time } }
    func setFails(_ fails: Bool) { state.withLock { $0.fails = fails } }
    var isReadOnly: Bool { state.withLock { $0.isReadOnly } }
    func setReadOnly() { state.withLock { $0.isReadOnly = true } }
    func setHangs() { state.withLock { $0.hangs = true } }
    func put(_ token: SharedPushToken, of key: String) { state.withLock { $0.tokens[key] = token } }

    func release() {
        let hanging = state.withLock { state in
            state.hangs = false
            defer { state.hanging = [] }
            return state.hanging
        }
        for caller in hanging { caller.resume() }
    }

    func token(of key: String) async throws -> (token: SharedPushToken?, now: Timestamp) {
        await withCheckedContinuation { caller in
            let goesOn = state.withLock { state in
                state.reads += 1
                if state.hangs { state.hanging.append(caller) }
                return !state.hangs
            }
            if goesOn { caller.resume() }
        }
        return try state.withLock { state in
            if state.fails { throw Failure() }
            return (state.tokens[key], Self.start + state.time)
        }
    }

    func replace(
        tokenIssuedAt issuedAt: Timestamp?, by token: SharedPushToken, of key: String
    ) async throws -> SharedPushToken {
        try state.withLock { state in
            if state.fails { throw Failure() }
            if let stored = state.tokens[key], stored.issuedAt != issuedAt { return stored }
            state.tokens[key] = token
            state.written.append(token)
            return token
        }
    }

    /// The tokens of a process.
    ///
    /// - Parameters:
    ///   - clock: by how much its own clock is ahead.
    ///   - renewalAge: in seconds.
    func tokens(
        _ configuration: APNsConfiguration, clock: Duration = .zero, renewalAge: Int = 2_500,
        patience: Duration = .seconds(60)
    ) -> APNsTokens {
        APNsTokens(
            configuration, store: self, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { self.now + clock }, instant: { self.instant }, renewalAge: renewalAge, patience: patience)
    }
}
