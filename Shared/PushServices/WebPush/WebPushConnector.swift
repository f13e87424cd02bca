import Domain
package import Foundations

/// Pushes to browsers, UnifiedPush apps and whatever else has a push service of RFC 8030. It needs no account: a key of
/// one's own is the credential (VAPID, RFC 8292).
///
/// A subscription is bound to the key with which it was made. After a change of the key the old ones are kept: a push
/// that is refused for its key is tried with each of them.
package final class WebPushConnector: PushConnector {
    private let configuration: WebPushConfiguration
    private let client: any PushHTTPSending
    private let tokens: VAPIDTokens
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - client: must ask ``PushDestinations/permits(_:for:)-(SocketAddress,_)`` before it connects. The connector
    ///     closes it.
    ///   - now: the clock; tests use another one.
    package init(
        configuration: WebPushConfiguration, client: any PushHTTPSending,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.configuration = configuration
        self.client = client
        self.now = now
        tokens = VAPIDTokens(subject: configuration.subject)
    }

    package func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult {
        var message: WebPushMessage
        do {
            message = try WebPushMessage(request, destinations: configuration.destinations, now: now())
        } catch {
            return error.result
        }
        var refusal = KeyRefusal()
        for key in keys(hint: request.keyHint) {
            var attempt = await attempt(message, key, deadline)
            if case .answer(let answer, _, _) = attempt, answer.meaning == .topicRefused, message.topic != nil {
                message.topic = nil
                attempt = await self.attempt(message, key, deadline)
            }
            switch attempt {
            case .failed(let result): return result
            case .answer(let answer, let status, let token):
                switch answer.meaning {
                case .end(let end):
                    var result = PushResult(end, reason: answer.reason, status: status)
                    if end == .accepted {
                        tokens.prove(token, for: message.destination.origin, key: key)
                        result.reason = ""
                        result.keyUsed = key.id == configuration.keys[0].id ? nil : key.id
                    }
                    return result
                case .topicRefused: return PushResult(.invalid, reason: answer.reason, status: status)
                case .tokenRefused: return PushResult(.credentialRefused, reason: answer.reason, status: status)
                case .keyRefused: refusal.add(answer.reason, status: status, isProven: token.isProven)
                }
            }
        }
        return refusal.result
    }

    /// Our keys in the order in which they are tried.
    private func keys(hint: String?) -> [ES256Key] {
        guard let hint, let index = configuration.keys.firstIndex(where: { $0.id == hint }), index > 0 else {
            return configuration.keys
        }
        var keys = configuration.keys
        keys.insert(keys.remove(at: index), at: 0)
        return keys
    }

    private enum Attempt {
        case answer(WebPushAnswer, status: Int, VAPIDTokens.Token)
        case failed(PushResult)
    }

    private func attempt(
        _ message: WebPushMessage, _ key: ES256Key, _ deadline: ContinuousClock.Instant
    ) async -> Attempt {
        guard let token = tokens.token(for: message.destination.origin, key: key, now: now()) else {
            return .failed(PushResult(.failed(after: nil), reason: "out of memory"))
        }
        switch await client.send(message.request(authorization: token.authorization), deadline: deadline) {
        case .success(let response): return .answer(WebPushAnswer(response, now: now()), status: response.status, token)
        case .failure(let failure): return .failed(PushResult(failure))
        }
    }

    package func problem(of address: PushAddress) -> String? {
        guard case .subscription(let endpoint, let p256dh, let auth) = address else {
            return "A browser has an endpoint, p256dh and auth."
        }
        do {
            _ = try configuration.destinations.destination(endpoint)
            _ = try WebPushSubscription(p256dh: p256dh, auth: auth)
            return nil
        } catch let problem as PushDestination.Problem {
            return "The endpoint is \(problem)."
        } catch {
            return "The \(error)."
        }
    }

    /// No answer says whether the subscription exists, so the check is about the token only: a push service refuses a
    /// bad one before it looks for the subscription (Apple), or does not find the subscription.
    package func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck {
        let device = ES256Key()
        let secret = ES256Key().publicPoint.prefix(17).dropFirst()
        let address = PushAddress.subscription(
            endpoint: "\(configuration.checkOrigin.text)/securepush-check-\(device.id)", p256dh: device.publicText,
            auth: Base64.encode(secret, .url))
        let result = await push(PushRequest(address: address, body: [], headers: ["ttl": "60"]), deadline: deadline)
        switch result.answer {
        case .credentialRefused where result.reason != "VapidPkHashMismatch": return .refused(reason: result.reason)
        case .unreachable, .unanswered, .throttled, .failed, .wrongAddress, .notAllowed:
            return .unknown(reason: result.reason)
        default: return .good
        }
    }

    package func close(deadline: ContinuousClock.Instant) async { await client.close(deadline: deadline) }
}

/// The refusals of all keys that were tried for one push.
private struct KeyRefusal {
    private var reason = ""
    private var status: Int?
    /// Whether one of the tokens has been accepted for another device of the same push service.
    private var isProven = false

    /// The first reason is that of the key that should fit.
    mutating func add(_ reason: String, status: Int, isProven: Bool) {
        if self.status == nil { (self.reason, self.status) = (reason, status) }
        self.isProven = self.isProven || isProven
    }

    /// A device may have a subscription that was made with a key of somebody else. That must not look like a refusal of
    /// our credentials, which stops the pushes to all devices.
    var result: PushResult { PushResult(isProven ? .wrongSender : .credentialRefused, reason: reason, status: status) }
}
