import AsyncHTTPClient
package import Domain
package import Foundations
package import Logging
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import ServiceConfiguration
import ServiceLifecycle

/// Keeps devices in the hub: registrations in the hub's Atom form (`/HUB/registrations`) and installations
/// (`/HUB/installations`, Azure: "Create or overwrite an installation").
///
/// The hub queues changes: a listing may show the state before a change for some seconds. Calls work from the start and
/// until ``run()`` ends. It must be run, because it closes the HTTP client. Nothing is retried here: the device, or the
/// operator's command, asks again.
package final class HubDevices: RegistrationGateway, InstallationGateway, Service {
    private let resource: String
    let tokens: SharedAccessTokens
    let endpoint: HubEndpoint
    private let client: HTTPClient
    private let proxy: OutgoingProxy?
    private let deadline: TimeAmount
    let logger: Logger

    /// The maximum of pages that are read of one handle's registrations, in case the hub's list does not end.
    private static let maxPages = 50

    /// Makes the client of one hub.
    ///
    /// - Parameters:
    ///   - configuration: the hub, and the key to it.
    ///   - logger: for failed requests and for credentials.
    package convenience init(configuration: NotificationHubConfiguration, logger: Logger) {
        self.init(configuration: configuration, logger: logger, deadline: .seconds(10))
    }

    /// Makes the client of one hub with the tokens of a sender to it: one look at the file of the connection string
    /// serves both.
    package convenience init(
        configuration: NotificationHubConfiguration, sharingTokensOf sender: HubSender, logger: Logger
    ) {
        self.init(configuration: configuration, logger: logger, deadline: .seconds(10), tokens: sender.tokens)
    }

    init(
        configuration: NotificationHubConfiguration, logger: Logger, deadline: TimeAmount,
        tokens: SharedAccessTokens? = nil
    ) {
        resource = configuration.resource
        endpoint = configuration.endpoint
        self.logger = logger
        self.deadline = deadline
        self.tokens = tokens ?? SharedAccessTokens(configuration: configuration, logger: logger)
        proxy = configuration.proxy
        var settings = HTTPClient.Configuration(
            tlsConfiguration: OutgoingTLS.configuration(trusting: configuration.outgoing.authorities))
        settings.proxy = proxy?.setting
        settings.redirectConfiguration = .disallow
        settings.timeout = .init(connect: .seconds(5), read: deadline)
        settings.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// After a start that failed, ``run()`` has not closed the client, which traps if it is dropped open.
    deinit { client.shutdown { _ in } }

    /// The file of the connection string (`HUB_CONNECTION_STRING_FILE`); `nil` without one.
    package var source: ReloadableSource? { tokens.source }

    /// Idles until shutdown, then closes the HTTP client; calls in flight fail.
    package func run() async throws {
        // Throws when the task is cancelled, which is shutdown here as well.
        try? await gracefulShutdown()
        try await shutdown()
    }

    /// Closes the HTTP client; calls in flight fail.
    func shutdown() async throws { try await client.shutdown() }

    // MARK: Registrations

    package func createRegistrationID() async throws -> String {
        let response = try await perform(.POST, "registrationids")
        try response.check()
        guard let id = response.head.messageID, DeviceID.isValid(id) else {
            throw PushGatewayError(.unavailable, "the hub sent no registration ID")
        }
        return id
    }

    package func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws {
        let entry = try RegistrationDocument.entry(platform: platform, handle: handle, tags: tags)
        let response = try await perform(.PUT, try registrationPath(id)) { request in
            request.headers.add(name: "Content-Type", value: RegistrationDocument.contentType)
            request.body = .bytes(ByteBuffer(string: entry))
        }
        if response.head.status == 410 { throw PushGatewayError(.gone, response.head.reason) }
        try response.check()
    }

    /// All registrations of a handle, including those that belong to installations.
    package func registrations(handle: String) async throws -> [HubRegistration] {
        // By scalars: a quote with a combining character after it is a quote, too.
        let scalars = handle.unicodeScalars.flatMap { $0 == "'" ? [$0, $0] : [$0] }
        let quoted = String(String.UnicodeScalarView(scalars))
        let query = "&$filter=" + PercentCoding.encode("ChannelUri eq '\(quoted)'")
        var found: [HubRegistration] = []
        var continuation = ""
        for _ in 0..<Self.maxPages {
            let response = try await perform(.GET, "registrations", query: query + continuation)
            try response.check()
            guard let page = RegistrationFeed.registrations(response.body) else {
                throw PushGatewayError(.unavailable, "the hub's list of registrations cannot be read")
            }
            found += page
            guard let token = response.continuation, !token.isEmpty else { return found }
            // The hub's tokens are percent-encoded already; others must be.
            let encoded = PercentCoding.isEncoded(token) ? token : PercentCoding.encode(token)
            continuation = "&continuationtoken=" + encoded
        }
        throw PushGatewayError(.unavailable, "the hub's list of registrations does not end")
    }

    package func deleteRegistration(_ id: String) async throws {
        let path = try registrationPath(id)
        let response = try await perform(.DELETE, path) { $0.headers.add(name: "If-Match", value: "*") }
        if response.head.status == 404 || response.head.status == 410 { return }
        try response.check()
    }

    // MARK: Installations

    /// Creates or overwrites an installation; `document` is sent unchanged.
    package func putInstallation(_ id: String, document: [UInt8]) async throws {
        let response = try await perform(.PUT, try installationPath(id, where: DeviceID.isValid)) { request in
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: document))
        }
        if response.head.status == 410 { throw PushGatewayError(.gone, response.head.reason) }
        try response.check()
    }

    package func deleteInstallation(_ id: String) async throws {
        let response = try await perform(.DELETE, try installationPath(id, where: DeviceID.isRemovable))
        // The hub documents 204 only, whether the installation existed or not; 404 and 410 mean the same.
        if [404, 410].contains(response.head.status) { return }
        try response.check()
    }

    // MARK: Requests

    // The URL is signed with the hub's key, so only a valid ID may become a part of it, whoever calls.

    private func registrationPath(_ id: String) throws(PushGatewayError) -> String {
        guard DeviceID.isValid(id) else { throw PushGatewayError(.rejected, "the registration ID is not valid") }
        return "registrations/" + PercentCoding.encode(id)
    }

    private func installationPath(
        _ id: String, where isAllowed: (String) -> Bool
    ) throws(PushGatewayError) -> String {
        guard isAllowed(id) else { throw PushGatewayError(.rejected, "the installation ID is not valid") }
        return "installations/" + PercentCoding.encode(id)
    }

    /// Makes one request.
    ///
    /// - Parameters:
    ///   - path: the percent-encoded path below the hub's own.
    ///   - query: the parameters after the version, with `&` before each.
    /// - Throws: ``PushGatewayError`` with code `unavailable` if there is no complete response in time.
    func perform(
        _ method: HTTPMethod, _ path: String, query: String = "",
        prepare: (inout HTTPClientRequest) -> Void = { _ in }
    ) async throws -> DeviceResponse {
        let version = "?api-version=" + NotificationHubConfiguration.apiVersion
        var request = HTTPClientRequest(url: "\(resource)/\(path)\(version)\(query)")
        let token = tokens.current
        request.method = method
        request.headers.add(name: "Authorization", value: token.text)
        request.headers.add(name: "User-Agent", value: "SecurePush")
        prepare(&request)
        let response: DeviceResponse
        do {
            let (whole, body) = try await exchange(request, upTo: DeviceResponse.maxBody)
            response = DeviceResponse(status: Int(whole.status.code), headers: whole.headers, body: body)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // Only the kind of the error: an error's text may hold the URL, which may hold a handle.
            let kind = (error as? HTTPClientError)?.shortDescription ?? "\(type(of: error))"
            logger.debug("A request to the hub failed", metadata: ["error": "\(kind)"])
            let way = proxy.map { " through the proxy \($0)" } ?? ""
            throw PushGatewayError(.unavailable, "the hub did not answer\(way) (\(kind))")
        }
        if response.head.status == 401 { tokens.invalidate(token.number, hubTime: response.head.hubTime) }
        return response
    }

    /// Makes a request, and reads the response with its whole body before the deadline.
    ///
    /// - Throws: `HTTPClientError`, `NIOTooManyBytesError`, an error of the connection, or `CancellationError`. The
    ///   connection is closed.
    func exchange(
        _ request: HTTPClientRequest, upTo maxBytes: Int
    ) async throws -> (response: HTTPClientResponse, body: ByteBuffer) {
        let end = NIODeadline.now() + deadline
        let response = try await client.execute(request, deadline: end)
        return (response, try await response.body.collect(upTo: maxBytes, within: Duration(end - .now())))
    }
}

/// The hub's response to a request about devices.
struct DeviceResponse {
    /// The status, the ID in `Location` or `Content-Location`, `Retry-After`, and the beginning of an error's body.
    let head: HubResponse
    /// The whole body, at most ``maxBody`` bytes.
    let body: String
    /// Where a list continues (`x-ms-continuationtoken`).
    let continuation: String?

    /// A page of registrations is 100 entries of about 1 KiB.
    static let maxBody = 1 << 20

    init(status: Int, headers: HTTPHeaders, body: ByteBuffer) {
        let location = headers.first(name: "Location") ?? headers.first(name: "Content-Location")
        head = HubResponse(
            status: status, messageID: location.flatMap { HubMessageID.inLocation($0.utf8) },
            retryAfter: headers.first(name: "Retry-After"),
            date: status == 401 ? headers.first(name: "Date") : nil,
            body: status >= 300 ? Array(body.readableBytesView.prefix(HubResponse.maxBody)) : [])
        self.body = String(buffer: body)
        continuation = headers.first(name: "x-ms-continuationtoken")
    }

    /// Throws the error that the hub's refusal stands for.
    func check() throws(PushGatewayError) {
        if let error = head.error(now: .now) { throw error }
    }
}
