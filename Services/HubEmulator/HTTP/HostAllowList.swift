import HTTPTypes
import Hummingbird
import ServiceRuntime

/// The host names under which the emulator's own API and page answer.
///
/// A web page can bind its own name to this machine's address (DNS rebinding). Its requests are then of the same
/// origin, and only the `Host` header distinguishes them from those of the emulator's page. The hub's API needs no such
/// list: a token protects it.
struct HostAllowList: Sendable {
    private let hosts: Set<String>
    /// Whether `Host` may be any IP address, which no page's name can be. So when all addresses are listened on.
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
        let isAddress = Self.isAddress(host)
        return isAddress && (allowsAddresses || host.hasPrefix("127."))
    }

    /// - Throws: 403 for a host name that is not in the list.
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

    private static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return host.allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == ":" || $0 == ".") } }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// Protects the emulator's own API, which needs no token, from web pages of other origins in a developer's browser.
struct OwnAPIMiddleware: RouterMiddleware {
    typealias Context = EmulatorContext

    let hosts: HostAllowList

    @concurrent func handle(
        _ request: Request, context: EmulatorContext,
        next: @concurrent (Request, EmulatorContext) async throws -> Response
    ) async throws -> Response {
        try hosts.check(request)
        if let origin = request.headers[.origin] {
            let authority = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
            guard authority.lowercased() == request.head.authority?.lowercased() else {
                throw Problem.forbidden("Pages of other origins cannot use the emulator's API.")
            }
        }
        return try await next(request, context)
    }
}
