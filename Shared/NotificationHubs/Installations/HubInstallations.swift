import AsyncHTTPClient
public import Logging
import NIOCore
import NIOHTTP1
public import SecurePushCore
public import ServiceLifecycle

/// Keeps devices' installations in the hub (`/HUB/installations`, Azure: "Create or overwrite an installation").
///
/// The hub queues these calls: a listing may show the state before for some seconds. Calls work from the start and
/// until ``run()`` ends; it must be run, because it closes the client. Nothing is retried here.
public final class HubInstallations: InstallationGateway, Service {
    private let client: HubClient

    public convenience init(configuration: NotificationHubConfiguration, logger: Logger) {
        self.init(configuration: configuration, logger: logger, deadline: .seconds(10))
    }

    init(configuration: NotificationHubConfiguration, logger: Logger, deadline: TimeAmount) {
        client = HubClient(configuration: configuration, logger: logger, deadline: deadline)
    }

    /// Idles until shutdown, then closes the client; calls under way fail.
    public func run() async throws { try await client.run() }

    public func putInstallation(_ id: String, document: [UInt8]) async throws {
        let reply = try await client.perform(.PUT, try path(of: id, where: DeviceID.isValid)) { request in
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: document))
        }
        try reply.check()
    }

    public func deleteInstallation(_ id: String) async throws {
        let reply = try await client.perform(.DELETE, try path(of: id, where: DeviceID.isRemovable))
        // 204 whether it was there or not; 404 and 410 are not documented, and would be as good.
        if [204, 404, 410].contains(reply.answer.status) { return }
        try reply.check()
    }

    /// Nothing that is not an ID gets into a URL that is signed with the hub's key, for any caller.
    private func path(of id: String, where isAllowed: (String) -> Bool) throws(PushGatewayError) -> String {
        guard isAllowed(id) else { throw PushGatewayError(.rejected, "the installation's ID is none of the hub's") }
        return "installations/" + PercentEncoding.encode(id)
    }
}
