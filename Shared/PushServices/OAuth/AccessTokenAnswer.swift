import Foundations

/// Why there is no access token.
enum AccessTokenFailure: Error, Sendable, Hashable {
    /// The token service refuses the credentials.
    case refused(reason: String)
    /// The token service fails, or its answer is malformed.
    case failed(reason: String, after: Duration?)
    /// The token service cannot be reached, or does not answer in time.
    case unreachable(reason: String)

    /// The push, which was not sent.
    var result: PushResult {
        switch self {
        case .refused(let reason): PushResult(.credentialRefused, reason: reason)
        case .failed(let reason, let wait): PushResult(.failed(after: wait), reason: reason)
        case .unreachable(let reason): PushResult(.unreachable, reason: reason)
        }
    }
}

/// The response of a token service (RFC 6749, section 5).
struct AccessTokenAnswer: Sendable, Hashable {
    var token: String
    var lifetime: Duration

    /// The body of an answer is a few kilobytes at most.
    private static let maxBody = 16_384
    /// With the other headers of a push it must fit into 16 KiB.
    private static let maxToken = 8_192
    /// If an answer has no `expires_in`.
    private static let defaultLifetime: Int64 = 300
    /// Those of Microsoft live this long.
    private static let maxLifetime: Int64 = 86_400
    /// The temporary errors (RFC 6749, section 4.1.2.1).
    private static let passingErrors: Set<String> = ["temporarily_unavailable", "server_error", "slow_down"]

    init(_ response: PushHTTPResponse, now: Timestamp) throws(AccessTokenFailure) {
        let json = response.body.count <= Self.maxBody ? try? JSONValue(strict: response.body) : nil
        guard (200...299).contains(response.status) else { throw Self.failure(response, json, now: now) }
        guard let json, let token = json["access_token"]?.text else { throw Self.malformed("no access_token") }
        guard (1...Self.maxToken).contains(token.utf8.count), ByteSet.visible.containsAll(token) else {
            throw Self.malformed("not a token")
        }
        if let type = json["token_type"], type.text?.equalsIgnoringASCIICase("bearer") != true {
            throw Self.malformed("token_type is not Bearer")
        }
        guard let seconds = Self.seconds(json["expires_in"]) else { throw Self.malformed("bad expires_in") }
        self.token = token
        lifetime = .seconds(min(seconds, Self.maxLifetime))
    }

    private static func malformed(_ reason: String) -> AccessTokenFailure {
        .failed(reason: "token: \(reason)", after: nil)
    }

    /// A whole number of seconds, or a text with one, as Microsoft Entra ID is documented to write it.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        switch value {
        case nil: return defaultLifetime
        case .string(let digits):
            guard (1...10).contains(digits.utf8.count), ByteSet.digits.containsAll(digits), let seconds = Int64(digits)
            else { return nil }
            return seconds > 0 ? seconds : nil
        default:
            guard let number = value?.number, number >= 1 else { return nil }
            return Int64(min(number, Double(maxLifetime)))
        }
    }

    private static func failure(
        _ response: PushHTTPResponse, _ json: JSONValue?, now: Timestamp
    ) -> AccessTokenFailure {
        let error = json?["error"]?.text
        let words = [error, json?["error_description"]?.text.map { plain($0) }].compactMap(\.self)
        let reason = PushReason.text(
            "token: " + (words.isEmpty ? "HTTP \(response.status)" : words.joined(separator: ": ")),
            status: response.status)
        let isPassing = [408, 429].contains(response.status) || error.map(passingErrors.contains) == true
        if (400...499).contains(response.status), !isPassing { return .refused(reason: reason) }
        return .failed(
            reason: reason, after: response["retry-after"].flatMap { Duration(retryAfter: $0, now: now) })
    }

    /// Google explains a clock that is wrong in terms of the assertion, at length.
    private static func plain(_ description: String) -> String {
        description.contains("iat and exp") || description.contains("reasonable timeframe")
            ? "check the clock of this machine" : description
    }
}
