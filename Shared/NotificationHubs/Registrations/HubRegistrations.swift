import AsyncHTTPClient
public import Logging
import NIOCore
import NIOHTTP1
public import SecurePushCore
public import ServiceLifecycle

/// Registers devices with the hub, in the hub's Atom form (`/HUB/registrations`).
///
/// Calls work from the start and until ``run()`` ends; it must be run, because it closes the client. Nothing is retried
/// here: the device asks again.
public final class HubRegistrations: RegistrationGateway, Service {
    private let configuration: NotificationHubConfiguration
    private let tokens: SharedAccessTokens
    private let client: HTTPClient
    private let deadline: TimeAmount
    private let logger: Logger

    /// The most pages of one handle's registrations that are read: a hub that never ends its list is out of order.
    private static let mostPages = 50

    public convenience init(configuration: NotificationHubConfiguration, logger: Logger) {
        self.init(configuration: configuration, logger: logger, deadline: .seconds(10))
    }

    init(configuration: NotificationHubConfiguration, logger: Logger, deadline: TimeAmount) {
        self.configuration = configuration
        self.logger = logger
        self.deadline = deadline
        tokens = SharedAccessTokens(configuration: configuration)
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.timeout = .init(connect: .seconds(5), read: deadline)
        settings.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// Idles until shutdown, then closes the client; calls under way fail.
    public func run() async throws {
        // Throws when the task is cancelled, which here is shutdown as well.
        try? await gracefulShutdown()
        try await client.shutdown()
    }

    public func createRegistrationID() async throws -> String {
        let reply = try await perform(.POST, "registrationids")
        try check(reply)
        guard let id = reply.answer.messageID else {
            throw PushGatewayError(.unavailable, "the hub gave no registration ID")
        }
        return id
    }

    public func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws {
        let entry = try RegistrationDocument.entry(platform: platform, handle: handle, tags: tags)
        let reply = try await perform(.PUT, path(of: id)) { request in
            request.headers.add(name: "Content-Type", value: RegistrationDocument.contentType)
            request.body = .bytes(ByteBuffer(string: entry))
        }
        if reply.answer.status == 410 { throw PushGatewayError(.gone, reply.answer.reason) }
        try check(reply)
    }

    public func registrationIDs(handle: String) async throws -> [String] {
        let filter =
            "ChannelUri eq '"
            + handle.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''") + "'"
        let query = "&$filter=" + PercentEncoding.encode(filter)
        var ids: [String] = []
        var continuation = ""
        for _ in 0..<Self.mostPages {
            let reply = try await perform(.GET, "registrations", query: query + continuation)
            try check(reply)
            guard let page = RegistrationFeed.registrationIDs(reply.body) else {
                throw PushGatewayError(.unavailable, "the hub's list of registrations cannot be read")
            }
            ids += page
            guard let token = reply.continuation, !token.isEmpty else { return ids }
            // Recorded tokens are percent-encoded already; others must be.
            let encoded = PercentEncoding.isEncoded(token) ? token : PercentEncoding.encode(token)
            continuation = "&continuationtoken=" + encoded
        }
        throw PushGatewayError(.unavailable, "the hub's list of registrations does not end")
    }

    public func deleteRegistration(_ id: String) async throws {
        let reply = try await perform(.DELETE, path(of: id)) { $0.headers.add(name: "If-Match", value: "*") }
        if reply.answer.status == 404 { return }
        try check(reply)
    }

    private func path(of id: String) -> String { "registrations/" + PercentEncoding.encode(id) }

    private func check(_ reply: HubReply) throws(PushGatewayError) {
        if let error = reply.answer.error(now: .now) { throw error }
    }

    private func perform(
        _ method: HTTPMethod, _ path: String, query: String = "",
        prepare: (inout HTTPClientRequest) -> Void = { _ in }
    ) async throws -> HubReply {
        let version = "?api-version=" + NotificationHubConfiguration.apiVersion
        var request = HTTPClientRequest(url: "\(configuration.resource)/\(path)\(version)\(query)")
        let token = tokens.current
        request.method = method
        request.headers.add(name: "Authorization", value: token.text)
        request.headers.add(name: "User-Agent", value: "SecurePush")
        prepare(&request)
        let reply = try await HubReply(request, client: client, deadline: deadline, logger: logger)
        if reply.answer.status == 401 { tokens.invalidate(token.number) }
        return reply
    }
}
