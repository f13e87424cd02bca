import HTTPTypes
import Hummingbird
import NIOCore
import ServiceConfiguration
import ServiceRuntime

/// The clients that the page and the simulated devices of `hub` answer: those on this machine, and those that
/// `HUB_SIMULATION_ALLOW` names.
///
/// A reverse proxy on this machine is a client of loopback too, and may pass the whole world on. So a request that shows
/// a proxy is refused, one from loopback must name loopback in its `Host`, and a proxy of `TRUSTED_PROXIES` is no client.
struct SimulationClients: Sendable {
    /// The only item of the setting that refuses everybody.
    static let nobody = "none"

    /// The proxies of `TRUSTED_PROXIES`.
    var proxies: [AddressBlock] = []
    private var blocks: [AddressBlock] = []
    /// Names of this service besides loopback's.
    private(set) var hosts: [String] = []
    private let isOff: Bool

    /// Reads addresses, CIDR blocks, and names of hosts; or `none`.
    init(_ items: [String] = []) {
        isOff = items == [Self.nobody]
        for item in isOff ? [] : items {
            if let block = AddressBlock(item) { blocks.append(block) } else { hosts.append(item) }
        }
    }

    func contains(_ request: Request, from peer: SocketAddress?) -> Bool {
        guard !isOff, let peer, !request.headers.isForwarded else { return false }
        let address = peer.ipAddress.flatMap { NetworkAddress($0) }
        if let address, proxies.contains(where: { $0.contains(address) }) { return false }
        if ConnectionController.isOfThisMachine(peer) {
            let names = HostAllowList(
                listeningHost: "localhost", allowed: hosts, setting: HubServiceConfiguration.allowSetting)
            return names.allows(request.head.authority)
        }
        guard let address else { return false }
        return blocks.contains { $0.contains(address) }
    }
}

/// Hides the page and the simulated devices of `hub` from all other clients, and from everybody while no platform is
/// simulated: there is nothing at these paths then.
struct SimulationMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let clients: SimulationClients
    let isSimulated: @Sendable () -> Bool

    func allows(_ request: Request, _ context: EmulatorContext) -> Bool {
        isSimulated() && clients.contains(request, from: context.channel.remoteAddress)
    }

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        guard allows(request, context) else { throw Problem.notFound() }
        return try await next(request, context)
    }
}
