import Crypto
import Foundation
import Foundations
import Logging
import Synchronization

/// Makes the hub's tokens: `SharedAccessSignature sr=SR&sig=SIG&se=EXP&skn=NAME`.
///
/// The signed text is the percent-encoded, lower-cased resource, a line feed, and the expiry in Unix seconds. The key
/// is the UTF-8 of its text; its Base64 is not decoded (Azure: "Notification Hubs REST API, common concepts").
struct SharedAccessSignature: Sendable {
    private let encodedResource: String
    private let encodedKeyName: String
    private let key: SymmetricKey

    /// - Parameter resource: the URL of the request or a prefix of it that ends where a path segment does.
    init(resource: String, keyName: String, key: String) {
        encodedResource = PercentCoding.encode(resource.lowercased())
        encodedKeyName = PercentCoding.encode(keyName)
        self.key = SymmetricKey(data: Data(key.utf8))
    }

    /// The value of an `Authorization` header that is valid until a time in Unix seconds.
    func token(expiresAt expiry: Int64) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(encodedResource)\n\(expiry)".utf8), using: key)
        let signature = PercentCoding.encode(Data(code).base64EncodedString())
        return "SharedAccessSignature sr=\(encodedResource)&sig=\(signature)&se=\(expiry)&skn=\(encodedKeyName)"
    }
}

/// One token. Its number counts the tokens made, so that two tokens are compared quickly.
struct SharedAccessToken: Sendable {
    var text: String
    var number: Int
    var renewAt: Timestamp
}

/// The current token. It is valid for an hour, renewed after two thirds of it, and dropped when the hub refuses it or
/// the credentials change.
///
/// The machine's clock is trusted until the hub refuses a token and tells another time (`Date`, RFC 9110, section
/// 6.6.1). From then on, expiries follow the hub's clock.
final class SharedAccessTokens: Sendable {
    private let credentials: HubCredentials
    private let lifetime: Duration
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())

    private struct State {
        var token: SharedAccessToken?
        var version: HubCredentials.Version?
        var made = 0
        /// How far the hub's clock is ahead of ours.
        var offset = Duration.zero
    }

    /// `Date` has whole seconds, and a response takes time: a smaller offset is not a difference of clocks.
    private static let minOffset = Duration.seconds(60)
    /// An offset above one day means a wrong header, not a wrong clock.
    private static let maxOffset = Duration.seconds(86_400)

    init(
        configuration: NotificationHubConfiguration, logger: Logger = Logger(label: "hub"),
        lifetime: Duration = .seconds(3600), clock: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        credentials = HubCredentials(configuration: configuration, logger: logger)
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The token to use now.
    var current: SharedAccessToken {
        let now = clock()
        let version = credentials.current
        return state.withLock { state in
            if let token = state.token, now < token.renewAt, state.version === version { return token }
            return make(&state, version, now: now)
        }
    }

    private func make(_ state: inout State, _ version: HubCredentials.Version, now: Timestamp) -> SharedAccessToken {
        state.made += 1
        let expiry = now + state.offset + lifetime
        let token = SharedAccessToken(
            text: version.signature.token(expiresAt: expiry.seconds), number: state.made,
            renewAt: now + lifetime * 2 / 3)
        state.token = token
        state.version = version
        return token
    }

    /// The hub has refused this token (401): the next request gets a new one. Late refusals of an older token change
    /// nothing, so that many requests in flight cost one new token.
    ///
    /// - Parameter hubTime: the time in the refusal.
    func invalidate(_ number: Int, hubTime: Timestamp? = nil) {
        let now = clock()
        let isCurrent = state.withLock { state in
            guard state.token?.number == number else { return false }
            state.token = nil
            if let hubTime { state.offset = Self.offset(hubTime - now) }
            return true
        }
        // The file may have changed since it was read.
        if isCurrent { _ = credentials.refreshed() }
    }

    /// The file of the connection string as operators see it; `nil` without one.
    var source: ReloadableSource? { credentials.source }

    private static func offset(_ difference: Duration) -> Duration {
        let size = difference < .zero ? .zero - difference : difference
        return size >= minOffset && size <= maxOffset ? difference : .zero
    }
}
