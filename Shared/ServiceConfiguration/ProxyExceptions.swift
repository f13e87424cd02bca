import Foundations

/// The hosts that are reached without a proxy (`NO_PROXY`).
///
/// There is no standard. This is the form of Go's `golang.org/x/net/http/httpproxy`, which most other programs agree
/// with: a list of
/// - `*`: every host;
/// - `example.com`: the host and all names below it; `.example.com` and `*.example.com`: the names below it;
/// - `192.0.2.1` or `2001:db8::1`: the address; `192.0.2.0/24`: the network. Names are not looked up for these;
/// - each of the first two with `:PORT`, for that port alone.
package struct ProxyExceptions: Sendable, Hashable {
    private enum Entry: Hashable {
        case all
        case name(String, isSuffixOnly: Bool, port: Int?)
        case network(AddressBlock, port: Int?)
    }

    private var entries: [Entry] = []

    package init() {}

    /// Reads the list. Entries are separated by commas or spaces.
    ///
    /// - Throws: ``ConfigurationRefusal`` if a network's prefix or a port cannot be read.
    package init(_ text: String) throws(ConfigurationRefusal) {
        for item in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            entries.append(try Self.entry(item))
        }
    }

    private static func entry(_ item: Substring) throws(ConfigurationRefusal) -> Entry {
        if item == "*" { return .all }
        if item.contains("/") {
            guard let network = AddressBlock(item) else {
                throw ConfigurationRefusal("has a network that cannot be read, unlike 10.0.0.0/8")
            }
            return .network(network, port: nil)
        }
        guard let place = HostAndPort(item), !place.host.isEmpty else {
            throw ConfigurationRefusal("has an entry with a port that cannot be read")
        }
        if let network = AddressBlock(place.host) { return .network(network, port: place.port) }
        var name = place.host.lowercased()
        if name.hasPrefix("*.") { name.removeFirst() }
        let isSuffixOnly = name.hasPrefix(".")
        return .name(isSuffixOnly ? String(name.dropFirst()) : name, isSuffixOnly: isSuffixOnly, port: place.port)
    }

    package func contains(_ host: String, port: Int) -> Bool {
        let name = (host.last == "." ? String(host.dropLast()) : host).lowercased()
        let address = NetworkAddress(name)
        return entries.contains { entry in
            switch entry {
            case .all: true
            case .name(let suffix, let isSuffixOnly, let only):
                (only == nil || only == port) && (name == suffix && !isSuffixOnly || name.hasSuffix("." + suffix))
            case .network(let network, let only):
                (only == nil || only == port) && address.map(network.contains) == true
            }
        }
    }
}

extension ConfigurationParser where Value == ProxyExceptions {
    package static var proxyExceptions: Self {
        ConfigurationParser(hint: "LIST") { text throws(ConfigurationRefusal) in try ProxyExceptions(text) }
    }
}
