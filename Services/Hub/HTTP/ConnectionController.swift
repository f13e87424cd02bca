import Foundations
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceConfiguration
import ServiceRuntime

/// `/emulator/connection`: the connection string and the hubs, for the page.
///
/// The rest of `/emulator` needs no credentials. The key gives more rights, because it is valid outside of the page. So
/// only a browser on this machine gets it, and only by a request that a page of another origin cannot make, not even
/// after DNS rebinding.
struct ConnectionController: Sendable {
    /// The page shows a few names.
    private static let maxHubs = 100

    /// The connection string by the port that is listened on.
    let connectionString: @Sendable (_ port: Int) -> String
    /// The hubs that exist before their first use; nil: every name is a hub.
    let hubNames: Set<String>?
    /// Whether the page may show the key: `hub` has keys of its own for each hub, and shows none.
    let showsKey: Bool
    let hubs: HubDirectory

    func addRoutes(to emulator: RouterGroup<EmulatorContext>) {
        emulator.get("connection") { _, context in description(on: context.channel).response() }
        emulator.post("connection/key") { request, context in
            guard showsKey else { throw Problem.forbidden("The keys are in HUB_ACCESS_FILE, and nowhere else.") }
            try Self.check(request, from: context.channel.remoteAddress)
            return JSONValue(["ConnectionString": .string(text(on: context.channel))]).response()
        }
    }

    /// The connection string without its key, and the hubs.
    private func description(on channel: any Channel) -> JSONValue {
        let text = text(on: channel)
        let key = "SharedAccessKey="
        let withoutKey = text.firstRange(of: key).map { String(text[..<$0.upperBound]) + "••••••••" } ?? key
        let names = hubs.all.prefix(Self.maxHubs).map { $0.name.lowercased() }
        return JSONValue([
            "AnyHub": .boolean(hubNames == nil), "HasKey": .boolean(showsKey),
            "Hubs": JSONValue(
                strings: Array(Set(names).union((hubNames ?? []).prefix(Self.maxHubs))).sorted()),
            "WithoutKey": .string(withoutKey),
        ])
    }

    private func text(on channel: any Channel) -> String {
        connectionString(channel.localAddress?.port ?? 0)
    }

    /// - Parameter peer: the client's address; nil if it is not known.
    /// - Throws: 403 unless a page of this emulator asks, in a browser on this machine.
    static func check(_ request: Request, from peer: SocketAddress?) throws(Problem) {
        let fields = request.headers
        // The middleware has compared the origin with the host and the host with our names. Browsers send the field
        // with every POST, so a request without it is not of the page.
        let isOfPage = fields[.origin] != nil && ["same-origin", nil].contains(fields[HTTPField.Name.fetchSite])
        guard isOfPage else { throw Problem.forbidden("Only the emulator's own page can ask for the key.") }
        guard peer.map(isOfThisMachine) == true, !fields.isForwarded else {
            throw Problem.forbidden(
                "The key is shown on the emulator's own machine only. It is in the line that the emulator prints.")
        }
    }

    /// Whether an address can only be of this machine.
    static func isOfThisMachine(_ peer: SocketAddress) -> Bool {
        // A Unix socket has no address.
        peer.ipAddress.map(InsecureLink.isLoopback) ?? true
    }
}

extension HTTPField.Name {
    /// Fetch Metadata Request Headers, W3C.
    fileprivate static let fetchSite = HTTPField.Name(static: "Sec-Fetch-Site")
}

extension HTTPFields {
    /// Fields that proxies add, besides those that begin with `X-Forwarded-`: RFC 7239, RFC 9110, RFC 8586, and those
    /// of nginx's manual, Envoy and Cloudflare.
    private static let forwarding: Set<String> = [
        "forwarded", "via", "cdn-loop", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip",
        "x-original-host", "x-envoy-external-address",
    ]

    /// Whether the request has a header of a proxy.
    var isForwarded: Bool {
        contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-forwarded-") || Self.forwarding.contains(name)
        }
    }
}
