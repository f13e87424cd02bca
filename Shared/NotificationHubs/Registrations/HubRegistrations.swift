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
    private let client: HubClient

    /// The most pages of one handle's registrations that are read: a hub that never ends its list is out of order.
    private static let maxPages = 50

    public convenience init(configuration: NotificationHubConfiguration, logger: Logger) {
        self.init(configuration: configuration, logger: logger, deadline: .seconds(10))
    }

    init(configuration: NotificationHubConfiguration, logger: Logger, deadline: TimeAmount) {
        client = HubClient(configuration: configuration, logger: logger, deadline: deadline)
    }

    /// Idles until shutdown, then closes the client; calls under way fail.
    public func run() async throws { try await client.run() }

    public func createRegistrationID() async throws -> String {
        let reply = try await client.perform(.POST, "registrationids")
        try reply.check()
        guard let id = reply.answer.messageID, DeviceID.isValid(id) else {
            throw PushGatewayError(.unavailable, "the hub gave no registration ID")
        }
        return id
    }

    public func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws {
        let entry = try RegistrationDocument.entry(platform: platform, handle: handle, tags: tags)
        let reply = try await client.perform(.PUT, try path(of: id)) { request in
            request.headers.add(name: "Content-Type", value: RegistrationDocument.contentType)
            request.body = .bytes(ByteBuffer(string: entry))
        }
        if reply.answer.status == 410 { throw PushGatewayError(.gone, reply.answer.reason) }
        try reply.check()
    }

    public func registrations(handle: String) async throws -> [HubRegistration] {
        let filter =
            "ChannelUri eq '"
            + handle.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''") + "'"
        let query = "&$filter=" + PercentEncoding.encode(filter)
        var found: [HubRegistration] = []
        var continuation = ""
        for _ in 0..<Self.maxPages {
            let reply = try await client.perform(.GET, "registrations", query: query + continuation)
            try reply.check()
            guard let page = RegistrationFeed.registrations(reply.body) else {
                throw PushGatewayError(.unavailable, "the hub's list of registrations cannot be read")
            }
            found += page
            guard let token = reply.continuation, !token.isEmpty else { return found }
            // Recorded tokens are percent-encoded already; others must be.
            let encoded = PercentEncoding.isEncoded(token) ? token : PercentEncoding.encode(token)
            continuation = "&continuationtoken=" + encoded
        }
        throw PushGatewayError(.unavailable, "the hub's list of registrations does not end")
    }

    public func deleteRegistration(_ id: String) async throws {
        let path = try path(of: id)
        let reply = try await client.perform(.DELETE, path) { $0.headers.add(name: "If-Match", value: "*") }
        if reply.answer.status == 404 || reply.answer.status == 410 { return }
        try reply.check()
    }

    /// Nothing that is not an ID gets into a URL that is signed with the hub's key, for any caller.
    private func path(of id: String) throws(PushGatewayError) -> String {
        guard DeviceID.isValid(id) else {
            throw PushGatewayError(.rejected, "the registration's ID is none of the hub's")
        }
        return "registrations/" + PercentEncoding.encode(id)
    }
}
