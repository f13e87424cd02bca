package import Foundations

/// Pushes to apps of Windows by the Windows Push Notification Services, with access tokens of one of Microsoft's two
/// token services.
///
/// Devices give the URLs of their channels, and each push has the access token with it. So a push goes only to the hosts
/// of ``PushDestinations``, and follows no redirect.
package final class WNSConnector: PushConnector {
    private let configuration: WNSConfiguration
    private let client: any PushHTTPSending
    private let tokens: AccessTokens
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - client: must be made by ``WNSConfiguration/client(outgoing:authorities:)``. It also fetches the access
    ///     tokens. The connector closes it.
    ///   - now: the clock; tests use another one.
    package init(
        configuration: WNSConfiguration, client: any PushHTTPSending,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.configuration = configuration
        self.client = client
        self.now = now
        tokens = AccessTokens(grant: configuration.grant, client: client, now: now)
    }

    package func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult {
        let message: WNSMessage
        do {
            message = try WNSMessage(request, destinations: configuration.destinations, now: now())
        } catch {
            return error.result
        }
        return await tokens.push(deadline: deadline) {
            message.request(token: $0)
        } read: { response in
            let answer = WNSAnswer(response, now: now())
            return (answer.result, answer.refusesToken)
        }
    }

    package func problem(of address: PushAddress) -> String? {
        guard case .handle(let channel) = address else { return "A device of WNS has the URI of a channel." }
        do {
            _ = try configuration.destinations.destination(channel)
            return nil
        } catch {
            return "The channel is \(error)."
        }
    }

    /// The token service knows whether the credentials are good, and WNS whether they are for it: it looks at the token
    /// before the channel. If only WNS cannot be asked, the token service's word counts.
    package func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck {
        if case .failure(let failure) = await tokens.token(deadline: deadline) {
            guard case .refused(let reason) = failure else { return .unknown(reason: failure.result.reason) }
            return .refused(reason: reason)
        }
        let request = PushRequest(
            address: .handle("\(configuration.checkOrigin.text)/?token=securepush-check"), body: [],
            headers: ["x-wns-type": "wns/raw", "x-wns-ttl": "60"])
        let result = await push(request, deadline: deadline)
        return switch result.answer {
        case .credentialRefused, .channelRefused: .refused(reason: result.reason)
        default: .good
        }
    }

    package func close(deadline: ContinuousClock.Instant) async { await client.close(deadline: deadline) }
}
