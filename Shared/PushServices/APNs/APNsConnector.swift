package import Foundations

/// Pushes to Apple's devices over the provider API of APNs, which is HTTP/2 only, with tokens of a signing key
/// ("Sending notification requests to APNs", "Establishing a token-based connection to APNs").
package final class APNsConnector: PushConnector {
    private let configuration: APNsConfiguration
    private let client: any PushHTTPSending
    private let tokens: APNsTokens
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - client: with the settings of ``APNsConfiguration/client(outgoing:authorities:)``. The connector closes
    ///     it.
    ///   - now: the clock; tests use another one.
    package init(
        configuration: APNsConfiguration, client: any PushHTTPSending, tokens: APNsTokens,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.configuration = configuration
        self.client = client
        self.tokens = tokens
        self.now = now
    }

    package func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult {
        let message: APNsMessage
        do {
            message = try APNsMessage(request, configuration, now: now())
        } catch {
            return error.result
        }
        guard var token = await tokens.token(deadline: deadline) else {
            return PushResult(.unreachable, reason: Task.isCancelled ? "cancelled" : "no token in time")
        }
        var repeated: Set<Repetition> = []
        while true {
            let response: PushHTTPResponse
            switch await client.send(message.request(authorization: token.authorization), deadline: deadline) {
            case .success(let answer): response = answer
            case .failure(let failure): return PushResult(failure)
            }
            let answer = APNsAnswer(response, now: now())
            switch answer.meaning {
            case .connectionEnds where repeated.insert(.connection).inserted: continue
            case .tokenExpired where repeated.insert(.renewed).inserted:
                if let next = await tokens.renewed(after: token, deadline: deadline) {
                    token = next
                    continue
                }
            case .tokenTooNew where repeated.insert(.older).inserted:
                if let next = tokens.former(insteadOf: token) {
                    token = next
                    continue
                }
            default: break
            }
            return PushResult(
                answer.end(hasUsualTopic: message.hasUsualTopic), reason: answer.reason, status: response.status)
        }
    }

    /// The reason why a push is sent again.
    private enum Repetition { case connection, renewed, older }

    package func problem(of address: PushAddress) -> String? {
        if case .handle(let text) = address, APNsMessage.token(text) != nil { return nil }
        return "The device token is not hexadecimal digits, two for each byte."
    }

    /// APNs checks the authentication token before the device token.
    package func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck {
        let nobody = PushAddress.handle(String(repeating: "0", count: 64))
        let request = PushRequest(
            address: nobody, body: Array(#"{"aps":{"content-available":1}}"#.utf8),
            headers: ["apns-expiration": "0"])
        let result = await push(request, deadline: deadline)
        return switch result.answer {
        case .accepted, .gone, .wrongAddress, .deviceThrottled: .good
        case .credentialRefused: .refused(reason: result.reason)
        default: .unknown(reason: result.reason)
        }
    }

    package func close(deadline: ContinuousClock.Instant) async { await client.close(deadline: deadline) }
}

extension APNsAnswer {
    /// The meaning of the answer when the push is not sent again.
    ///
    /// - Parameter hasUsualTopic: whether the topic is that of the credentials. A send may name another one, or a push
    ///   type with another topic. A wrong topic of a send must neither remove devices nor pause the platform.
    fileprivate func end(hasUsualTopic: Bool) -> PushAnswer {
        switch meaning {
        case .end(let end), .connectionEnds(let end), .tokenTooNew(let end): end
        case .tokenExpired: .credentialRefused
        case .topicRefused: hasUsualTopic ? .credentialRefused : .invalid
        case .otherTopic: hasUsualTopic ? .wrongAddress : .invalid
        }
    }
}
