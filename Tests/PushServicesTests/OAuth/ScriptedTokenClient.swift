import Crypto
import CryptoExtras
import Foundations
import PushServices
import Synchronization

/// Stands in for the HTTP client of a connector with access tokens: requests for tokens have answers of their own, and
/// can be held back.
final class ScriptedTokenClient: PushHTTPSending {
    let tokens: ScriptedPushClient
    let pushes: ScriptedPushClient
    private let held: Mutex<(isHeld: Bool, waiters: WaitList<Void>)>

    /// - Parameters:
    ///   - tokens: the answers to requests for tokens; 201 without a token after them.
    ///   - pushes: the answers to pushes; 201 after them.
    ///   - isHeld: whether requests for tokens wait for ``release()``.
    init(
        tokens: [ScriptedPushClient.Answer] = [.token("t1"), .token("t2"), .token("t3")],
        pushes: [ScriptedPushClient.Answer] = [], isHeld: Bool = false
    ) {
        self.tokens = ScriptedPushClient(tokens)
        self.pushes = ScriptedPushClient(pushes)
        held = Mutex((isHeld, WaitList()))
    }

    func send(_ request: PushHTTPRequest, deadline: ContinuousClock.Instant) async -> ScriptedPushClient.Answer {
        guard request["content-type"] == "application/x-www-form-urlencoded" else {
            return await pushes.send(request, deadline: deadline)
        }
        let answer = await tokens.send(request, deadline: deadline)
        try? await held.wait(in: \.waiters) { $0.isHeld ? nil : () }
        return answer
    }

    func release() {
        let waiters = held.withLock { held in
            held.isHeld = false
            return held.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    func close(deadline: ContinuousClock.Instant) async { await pushes.close(deadline: deadline) }
}

extension Result where Success == PushHTTPResponse, Failure == PushHTTPFailure {
    /// The answer of a token service.
    static func token(_ text: String, expiresIn: String = "3600") -> Self {
        answer(200, [], #"{"access_token":"\#(text)","token_type":"Bearer","expires_in":\#(expiresIn)}"#)
    }

    /// An error of a token service (RFC 6749, section 5.2).
    static func oauth(_ status: Int, _ error: String, _ description: String = "") -> Self {
        answer(status, [], #"{"error":"\#(error)","error_description":"\#(description)"}"#)
    }
}

extension PushHTTPRequest {
    /// The parameters of a form.
    var form: [String: String] {
        var form: [String: String] = [:]
        for part in String(decoding: body, as: UTF8.self).split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            form[String(pair[0])] = PercentCoding.decode(pair[1])
        }
        return form
    }
}

/// A key of a service account. To make one takes a while, so all tests share it.
enum ServiceAccountKey {
    static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    static var pem: String { get throws { try key.get().pemRepresentation } }
    static var publicPEM: String { get throws { try key.get().publicKey.pemRepresentation } }

    /// Whether a token is signed by the key (RS256).
    static func isValid(_ token: String) throws -> Bool {
        let parts = token.split(separator: ".")
        guard parts.count == 3, let signature = Base64.decode(parts[2], .url) else { return false }
        return try key.get().publicKey.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: Array("\(parts[0]).\(parts[1])".utf8),
            padding: .insecurePKCS1v1_5)
    }
}

/// Time that passes when a test says so.
final class ManualTime: Sendable {
    static let start = Timestamp(milliseconds: 1_790_000_000_000)
    private let begin = ContinuousClock.now
    private let elapsed = Mutex(Duration.zero)

    var now: Timestamp { Self.start + elapsed.withLock { $0 } }
    var instant: ContinuousClock.Instant { begin + elapsed.withLock { $0 } }

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }
}
