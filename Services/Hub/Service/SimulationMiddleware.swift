import HTTPTypes
import Hummingbird
import NIOCore
import ServiceConfiguration
import ServiceRuntime

/// The clients that the page and the simulated devices of `hub` answer: those on this machine, and those that
/// `HUB_SIMULATION_ALLOW` names. A request that a proxy passes on is not of this machine.
struct SimulationClients: Sendable {
    private var blocks: [AddressBlock] = []
    /// Names of this service besides loopback's.
    private(set) var hosts: [String] = []

    /// Reads addresses, CIDR blocks, and names of hosts.
    init(_ items: [String] = []) {
        for item in items {
            if let block = AddressBlock(item) { blocks.append(block) } else { hosts.append(item) }
        }
    }

    func contains(_ request: Request, from peer: SocketAddress?) -> Bool {
        guard let peer, !HTTPField.Name.forwarding.contains(where: { request.headers[$0] != nil }) else { return false }
        if ConnectionController.isOfThisMachine(peer) { return true }
        guard let address = peer.ipAddress.flatMap({ NetworkAddress($0) }) else { return false }
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
