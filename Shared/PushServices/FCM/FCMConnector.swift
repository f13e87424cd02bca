package import Foundations

/// Pushes to Android devices by Firebase Cloud Messaging (the HTTP v1 API), with the access tokens of a service account.
package final class FCMConnector: PushConnector {
    private let configuration: FCMConfiguration
    private let client: any PushHTTPSending
    private let tokens: AccessTokens
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - client: also fetches the access tokens. The connector closes it.
    ///   - now: the clock; tests use another one.
    package init(
        configuration: FCMConfiguration, client: any PushHTTPSending,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.configuration = configuration
        self.client = client
        self.now = now
        tokens = AccessTokens(grant: configuration.grant, client: client, now: now)
    }

    package func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult {
        await push(request, isCheck: false, deadline: deadline)
    }

    private func push(
        _ request: PushRequest, isCheck: Bool, deadline: ContinuousClock.Instant
    ) async -> PushResult {
        let message: FCMMessage
        do {
            message = try FCMMessage(request, now: now(), isCheck: isCheck)
        } catch {
            return error.result
        }
        return await tokens.push(deadline: deadline) {
            message.request(to: configuration, token: $0)
        } read: { response in
            let answer = FCMAnswer(response, now: now())
            return (answer.result, answer.refusesToken)
        }
    }

    package func problem(of address: PushAddress) -> String? {
        guard case .handle(let handle) = address, FCMMessage.target(handle) != nil else {
            return "A device of FCM has a registration token or the ID of a Firebase installation."
        }
        return nil
    }

    /// FCM checks the credentials before the device token.
    package func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck {
        let payload = #"{"message":{"data":{"check":"1"}}}"#
        let request = PushRequest(address: .handle("securepush-check"), body: Array(payload.utf8))
        let result = await push(request, isCheck: true, deadline: deadline)
        switch result.answer {
        case .accepted, .gone, .wrongAddress, .wrongSender: return .good
        case .invalid where result.status == 400: return .good
        case .credentialRefused: return .refused(reason: result.reason)
        default: return .unknown(reason: result.reason)
        }
    }

    package func close(deadline: ContinuousClock.Instant) async { await client.close(deadline: deadline) }
}
