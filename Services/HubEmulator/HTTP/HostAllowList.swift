import HTTPTypes
import Hummingbird
import ServiceRuntime

/// The names under which the emulator's own API and page may be asked for.
///
/// A web page can give its own name this machine's address (DNS rebinding). Its requests are of the same origin then,
/// and only the `Host` header tells them from those of the emulator's page. The hub's API needs no such list: a token
/// protects it.
struct HostAllowList: Sendable {
    private let hosts: Set<String>
    /// Whether any IP address may stand in `Host`: no page's name can be one. So when all addresses are listened on.
    private let allowsAddresses: Bool

    /// - Parameters:
    ///   - listeningHost: the host that is listened on.
    ///   - endpointHost: the host of the connection string, the name under which clients reach the emulator.
    ///   - allowed: further names, in any case, without a port.
    init(listeningHost: String, endpointHost: String, allowed: [String]) {
        let own = ["localhost", "127.0.0.1", "::1", listeningHost, endpointHost] + allowed
        hosts = Set(own.map(Self.plain))
        allowsAddresses = ["0.0.0.0", "::"].contains(listeningHost)
    }

    /// - Parameter authority: the `Host` header, with or without a port; nil when it is absent.
    func allows(_ authority: String?) -> Bool {
        guard let authority, !authority.isEmpty, !authority.contains("@") else { return false }
        let host = Self.plain(TokenAudience.host(ofAuthority: authority))
        if hosts.contains(host) || host.hasSuffix(".localhost") { return true }
        return Self.isLoopback(host) || (allowsAddresses && Self.isAddress(host))
    }

    func check(_ request: Request) throws(Problem) {
        guard allows(request.head.authority) else {
            throw Problem.forbidden(
                "The emulator's own API and page do not answer under this host name. Add it to EMULATOR_ALLOWED_HOSTS.")
        }
    }

    /// In lower case, without the brackets of an IPv6 address and the dot of an absolute name.
    private static func plain(_ host: String) -> String {
        var host = host.lowercased()[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host.hasSuffix(".") { host = host.dropLast() }
        return String(host)
    }

    private static func isLoopback(_ host: String) -> Bool { host.hasPrefix("127.") && isAddress(host) }

    private static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return host.allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == ":" || $0 == ".") } }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// Refuses requests to the emulator's own API under names that are not its own.
struct HostMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let hosts: HostAllowList

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        try hosts.check(request)
        return try await next(request, context)
    }
}
