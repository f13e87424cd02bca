import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import SecurePushCore
import ServiceConfiguration
import ServiceLifecycle

/// Asks the hub for what is not a send: registrations and installations.
///
/// Calls work from the start and until ``run()`` ends; it must be run, because it closes the client. Nothing is retried
/// here: the device, or the operator's command, asks again.
final class HubClient: Sendable {
    private let resource: String
    private let tokens: SharedAccessTokens
    private let client: HTTPClient
    private let deadline: TimeAmount
    private let logger: Logger

    init(configuration: NotificationHubConfiguration, logger: Logger, deadline: TimeAmount) {
        resource = configuration.resource
        self.logger = logger
        self.deadline = deadline
        tokens = SharedAccessTokens(configuration: configuration, logger: logger)
        var settings = HTTPClient.Configuration(tlsConfiguration: OutgoingTLS.configuration)
        settings.redirectConfiguration = .disallow
        settings.timeout = .init(connect: .seconds(5), read: deadline)
        settings.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// Idles until shutdown, then closes the client; calls under way fail.
    func run() async throws {
        // Throws when the task is cancelled, which here is shutdown as well.
        try? await gracefulShutdown()
        try await client.shutdown()
    }

    /// Makes one request.
    ///
    /// - Parameters:
    ///   - path: below the hub's own, percent-encoded.
    ///   - query: what follows the version, with `&` before each parameter.
    /// - Throws: ``PushGatewayError`` with code `unavailable` where there is no whole answer.
    func perform(
        _ method: HTTPMethod, _ path: String, query: String = "",
        prepare: (inout HTTPClientRequest) -> Void = { _ in }
    ) async throws -> HubReply {
        let version = "?api-version=" + NotificationHubConfiguration.apiVersion
        var request = HTTPClientRequest(url: "\(resource)/\(path)\(version)\(query)")
        let token = tokens.current
        request.method = method
        request.headers.add(name: "Authorization", value: token.text)
        request.headers.add(name: "User-Agent", value: "SecurePush")
        prepare(&request)
        let reply = try await HubReply(request, client: client, deadline: deadline, logger: logger)
        if reply.answer.status == 401 { tokens.invalidate(token.number, hubTime: reply.answer.hubTime) }
        return reply
    }
}
