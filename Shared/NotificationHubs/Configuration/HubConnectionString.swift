import Foundations
import ServiceConfiguration

/// The parts of a connection string as copied from the hub's portal page:
/// `Endpoint=sb://NS.servicebus.windows.net/;SharedAccessKeyName=RULE;SharedAccessKey=KEY`.
///
/// It is split on `;`, then on the first `=`, because keys end in `=`. The case and the order of part names do not
/// matter. A part that is unknown or occurs twice is an error, as in the .NET client: otherwise such a mistake would
/// show as a 401 much later.
struct HubConnectionString: Sendable {
    var endpoint: HubEndpoint
    var keyName: String
    var key: String
    /// The name of the hub. The portal never shows it; some tools add it.
    var entityPath: String?

    init(_ text: String, insecureHost: String? = nil) throws(SetupError) {
        let parts = try Self.parts(text)
        endpoint = try HubEndpoint(try Self.require(.endpoint, in: parts), insecureHost: insecureHost)
        keyName = try Self.require(.sharedAccessKeyName, in: parts)
        key = try Self.require(.sharedAccessKey, in: parts)
        entityPath = parts[.entityPath]
    }

    private enum Part: String, CaseIterable {
        case endpoint = "Endpoint"
        case sharedAccessKeyName = "SharedAccessKeyName"
        case sharedAccessKey = "SharedAccessKey"
        case entityPath = "EntityPath"
    }

    private static func parts(_ text: String) throws(SetupError) -> [Part: String] {
        var parts: [Part: String] = [:]
        let text = OutsideText.trimmed(text)
        guard OutsideText.controlCharacter(in: text) == nil else {
            throw .init(.malformedPart, "The connection string has a control character: copy the whole string again.")
        }
        guard OutsideText.marks(around: text) == 0 else {
            throw .init(.malformedPart, "The connection string has a quotation mark at an end: remove it.")
        }
        for piece in OutsideText.parts(text, at: ";").map({ OutsideText.trimmed($0) }) where !piece.isEmpty {
            guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw .init(
                    .malformedPart, "A part of the connection string has no \"=\": copy the whole string again.")
            }
            let name = OutsideText.trimmed(piece[..<equals]).lowercased()
            guard let part = Part.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
                // The name is not shown: in a damaged string it may be a part of the key.
                let names = Part.allCases.map(\.rawValue).joined(separator: ", ")
                throw .init(.unknownPart, "The connection string has an unknown part; it may have only \(names).")
            }
            guard parts[part] == nil else {
                throw .init(.duplicatePart, "The connection string has \(part.rawValue) twice: remove one.")
            }
            parts[part] = OutsideText.trimmed(piece[piece.utf8.index(after: equals)...])
        }
        return parts
    }

    private static func require(
        _ part: Part, in parts: [Part: String]
    ) throws(SetupError) -> String {
        guard let value = parts[part], !value.isEmpty else {
            throw .init(
                .missingPart,
                "The connection string has no \(part.rawValue): copy it from the hub's page \"Access Policies\".")
        }
        return value
    }
}

/// The address of a hub's namespace: scheme, host and port of the connection string's `Endpoint`.
package struct HubEndpoint: Sendable, Hashable {
    /// `true` for `https` and `sb`; `false` for plain HTTP to this machine.
    package let usesTLS: Bool
    /// A name or an address; an IPv6 address has no brackets.
    package let host: String
    /// The TCP port; 443 or 80 if the endpoint names none.
    package let port: Int

    /// Host and port as in the `Host` header: brackets around IPv6, and no default port.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `https://AUTHORITY`, without a final slash.
    package var url: String { (usesTLS ? "https://" : "http://") + authority }

    /// Reads `sb://`, `https://` or `http://`, a host, and optionally a port and a final slash.
    ///
    /// - Parameter insecureHost: the only host besides this machine to which plain HTTP is allowed.
    init(_ text: String, insecureHost: String? = nil) throws(SetupError) {
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint(text, schemes: ["sb", "https", "http"])
        } catch {
            switch error {
            case .noScheme: throw .endpoint("has no scheme; it must begin with sb://")
            case .otherScheme: throw .endpoint("must begin with sb:// or https://")
            case .place: throw .endpoint("must be only a host name, as in sb://NAMESPACE.servicebus.windows.net/")
            }
        }
        usesTLS = endpoint.scheme != "http"
        host = endpoint.host.lowercased()
        port = endpoint.port ?? (usesTLS ? 443 : 80)
        if !usesTLS, !InsecureLink.isLoopback(host), host != insecureHost?.lowercased() {
            throw .endpoint(
                "may use http:// only for this machine (127.0.0.1, ::1, localhost); write https:// or sb://")
        }
    }
}

extension SetupError {
    fileprivate static func endpoint(_ what: String) -> Self {
        Self(.endpoint, "Endpoint in the connection string \(what).")
    }
}
