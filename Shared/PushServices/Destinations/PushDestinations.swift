package import Foundations
package import NIOCore
package import ServiceConfiguration

/// Where the pushes of a connector may go: to the push services that it is made for, and to hosts that the operator
/// allows. Devices choose the URLs, so any other URL may be an attempt to reach an internal server.
///
/// A URL is checked at the registration and before each push. The connection is checked too: see
/// ``permits(_:for:)-(NetworkAddress,_)``.
package struct PushDestinations: Sendable {
    /// A host of ``allowedHosts``.
    private struct Entry: Sendable, Hashable {
        /// In lower case.
        var host: String
        var port: Int
        /// Whether names that end with a dot and the host are meant, and not the host itself.
        var isSuffix = false

        func contains(_ origin: PushOrigin) -> Bool {
            guard origin.port == port else { return false }
            return isSuffix ? origin.host.hasSuffix("." + host) : origin.host == host
        }
    }

    private let builtIn: [Entry]
    private let allowed: [Entry]
    /// The addresses among the allowed hosts, with the ports that they are allowed with.
    private let addresses: [NetworkAddress: Set<Int>]
    private let maxBytes: Int

    /// The push services of Google, Mozilla, Apple and Microsoft for browsers.
    package static let browserServices = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "*.push.apple.com", "*.notify.windows.com",
    ]
    /// The push service of Windows.
    package static let windowsServices = ["*.notify.windows.com"]

    /// - Parameters:
    ///   - services: the hosts that are always allowed, in the form of `allowedHosts`.
    ///   - allowedHosts: the operator's hosts: `HOST` or `HOST:PORT`, or `*.HOST` for all below one; port 443 without
    ///     a port. A host may be an address.
    ///   - maxBytes: the longest URL. 1,000 bytes is UnifiedPush's limit for endpoints.
    /// - Throws: ``SetupError`` `invalid` that names the entry.
    package init(services: [String], allowedHosts: [String] = [], maxBytes: Int = 1_000) throws(SetupError) {
        builtIn = try services.map { text throws(SetupError) in try Self.entry(text) }
        allowed = try allowedHosts.map { text throws(SetupError) in try Self.entry(text) }
        let ports = allowed.compactMap { entry in NetworkAddress(entry.host).map { ($0, Set([entry.port])) } }
        addresses = Dictionary(ports) { $0.union($1) }
        self.maxBytes = maxBytes
    }

    private static func entry(_ text: String) throws(SetupError) -> Entry {
        let isSuffix = text.utf8.starts(with: "*.".utf8)
        guard let (host, port) = PushHost.split(text.utf8.dropFirst(isSuffix ? 2 : 0)),
            !isSuffix || NetworkAddress(host) == nil
        else {
            throw SetupError(
                .invalid, "\(OutsideText.visible(text)) is not HOST, HOST:PORT, *.HOST or *.HOST:PORT")
        }
        return Entry(host: host, port: port ?? 443, isSuffix: isSuffix)
    }

    /// Takes a URL apart that a device has given.
    package func destination(_ url: String) throws(PushDestination.Problem) -> PushDestination {
        let destination = try PushDestination(url, maxBytes: maxBytes)
        guard isBuiltIn(destination.origin) || allowed.contains(where: { $0.contains(destination.origin) }) else {
            throw .notAllowed
        }
        return destination
    }

    private func isBuiltIn(_ origin: PushOrigin) -> Bool { builtIn.contains { $0.contains(origin) } }

    /// Whether a connection may be made to an address that the look-up of a host gave.
    ///
    /// A host that only the operator allows must not resolve to a special-purpose address, because its owner can change
    /// the address at any time. Such an address must be in the operator's list itself, with the same port; `localhost`
    /// in the list stands for the addresses of this machine.
    package func permits(_ address: NetworkAddress, for origin: PushOrigin) -> Bool {
        guard !isBuiltIn(origin), address.isSpecialPurpose else { return true }
        return addresses[address]?.contains(origin.port) == true || origin.host == "localhost" && address.isLoopback
    }

    /// As above; an address that is not one of IP is refused.
    package func permits(_ address: SocketAddress, for origin: PushOrigin) -> Bool {
        guard let text = address.ipAddress, let address = NetworkAddress(text) else { return false }
        return permits(address, for: origin)
    }
}
