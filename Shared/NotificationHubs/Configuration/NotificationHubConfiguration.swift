import Domain
package import Foundations
package import OutgoingHTTP
import ServiceConfiguration

/// A hub and the key to it: the parsed connection string and the hub's name.
package struct NotificationHubConfiguration: Sendable {
    /// The namespace's address.
    package let endpoint: HubEndpoint
    /// The hub's name, as given.
    package let hubName: String
    /// The name of the access rule (`DefaultFullSharedAccessSignature`, …).
    package let keyName: String
    /// The rule's key: the UTF-8 of its text, which is never decoded.
    let key: String
    /// The file of the connection string, which is read again when it changes; `nil` if there is none.
    package var connectionStringFile: String?
    /// The trusted authorities, and the proxy.
    package var outgoing = OutgoingConfiguration()
    private let insecureHost: String?

    /// - Parameters:
    ///   - connectionString: as copied from the hub's portal page. `http://` endpoints are for loopback hosts only.
    ///   - hubName: 1 to 260 characters (``hubNameRule``); empty takes the connection string's `EntityPath`, which may
    ///     name no other hub.
    ///   - insecureHost: the only host besides loopback that an `http://` endpoint may name (`HUB_INSECURE_HOST`): a
    ///     hub emulator in a private container network.
    /// - Throws: an error with the mistake and its remedy, never with the key.
    package init(
        connectionString: String, hubName: String, insecureHost: String? = nil
    ) throws(SetupError) {
        let parsed = try HubConnectionString(connectionString, insecureHost: insecureHost)
        let name = hubName.isEmpty ? parsed.entityPath ?? "" : hubName
        guard parsed.entityPath.map({ HubSelection.folded($0) == HubSelection.folded(name) }) != false else {
            throw .init(
                .entityPath,
                "EntityPath in the connection string names another hub: correct the hub's name, or copy the connection "
                    + "string of this hub.")
        }
        guard !name.isEmpty else {
            throw .init(.hubName, "The name of the hub is missing.")
        }
        guard name.utf8.count <= 260, Self.hubNameBytes.containsAll(name),
            name.utf8.first.map(ByteSet.alphanumerics.contains) == true
        else { throw .init(.hubName, Self.hubNameRule) }
        endpoint = parsed.endpoint
        self.hubName = name
        keyName = parsed.keyName
        key = parsed.key
        self.insecureHost = insecureHost
    }

    /// The rule, for error texts. It is Azure's for new hubs ("Naming rules and restrictions for Azure resources"),
    /// with the slash, which Azure's API accepts too (`notificationHubName`).
    static let hubNameRule =
        "A hub's name has at most 260 of A-Z a-z 0-9 - . _ / and begins with a letter or a digit."
    private static let hubNameBytes = ByteSet.alphanumerics.union(ByteSet("-._/"))

    /// The same hub with the rule and key of a later connection string.
    ///
    /// - Throws: an error with the mistake and its remedy. The endpoint may not change: connections to it are open.
    func renewed(connectionString: String) throws(SetupError) -> Self {
        let renewed = try Self(connectionString: connectionString, hubName: hubName, insecureHost: insecureHost)
        guard renewed.endpoint == endpoint else {
            throw .init(.endpoint, "The connection string names another endpoint: restart the service to use it.")
        }
        return renewed
    }

    /// Whether another configuration has the same hub, rule and key.
    func isSame(as other: Self) -> Bool {
        endpoint == other.endpoint && hubName == other.hubName && keyName == other.keyName && key == other.key
    }

    /// The proxy to the hub. An `http` endpoint has none: it is an emulator on this machine or in a private network.
    var proxy: OutgoingProxy? {
        endpoint.usesTLS ? outgoing.proxy(to: endpoint.host, port: endpoint.port, usesTLS: true) : nil
    }

    /// The percent-encoded path of the hub, with a slash before it and none after it.
    var path: String { "/" + PercentCoding.encode(hubName) }

    /// The hub's URL, which shared access signatures are made for.
    var resource: String { endpoint.url + path }

    /// The newest version of the data plane; the official clients use it.
    static let apiVersion = "2020-06"
}

extension NotificationHubConfiguration: CustomStringConvertible, CustomDebugStringConvertible {
    /// URL and rule; never the key.
    package var description: String { "\(resource) (\(keyName))" }
    package var debugDescription: String { description }
}

extension NotificationHubConfiguration: CustomReflectable {
    /// `dump` and the interpolation of containers reflect: the key must not appear there either.
    package var customMirror: Mirror {
        Mirror(self, children: ["endpoint": endpoint, "hubName": hubName, "keyName": keyName])
    }
}

extension NotificationHubConfiguration {
    /// Reads `HUB_CONNECTION_STRING` or `HUB_CONNECTION_STRING_FILE`, `HUB_NAME`, `HUB_INSECURE_HOST`, and the settings
    /// of outgoing connections.
    ///
    /// - Parameter isRequired: whether it is an issue that none of them is set.
    /// - Returns: `nil` without a hub, or if one of them is missing or not valid; the reader holds the issue.
    static func read(_ reader: inout ConfigurationReader, isRequired: Bool) -> NotificationHubConfiguration? {
        let isNeeded =
            isRequired || reader.isSet(\.hubConnectionString) || reader.isSet(\.hubConnectionStringFile)
            || reader.isSet(\.hubName)
        let connectionString = reader.require(
            \.hubConnectionString, orFile: \.hubConnectionStringFile, if: isNeeded)
        let name = reader.require(\.hubName, if: isNeeded)
        let insecureHost = reader[\.hubInsecureHost]
        let outgoing = OutgoingConfiguration.read(&reader)
        guard let connectionString, let name else { return nil }
        do throws(SetupError) {
            var configuration = try NotificationHubConfiguration(
                connectionString: connectionString, hubName: name, insecureHost: insecureHost)
            configuration.outgoing = outgoing
            configuration.connectionStringFile = reader[\.hubConnectionStringFile]
            return configuration
        } catch {
            reader.note(error.code == .hubName ? \.hubName : \.hubConnectionString, error.message)
            return nil
        }
    }
}

extension SetupError.Code {
    /// A part of a connection string is not `name=value`.
    static let malformedPart = Self(rawValue: "malformedPart")
    /// `Endpoint`, `SharedAccessKeyName` or `SharedAccessKey` is missing or empty.
    static let missingPart = Self(rawValue: "missingPart")
    /// A part occurs twice.
    static let duplicatePart = Self(rawValue: "duplicatePart")
    /// The string has a part that connection strings do not have.
    static let unknownPart = Self(rawValue: "unknownPart")
    /// The endpoint is not a namespace's address, or it is plain HTTP to another machine.
    static let endpoint = Self(rawValue: "endpoint")
    /// `EntityPath` is not the hub's name.
    static let entityPath = Self(rawValue: "entityPath")
    /// The hub's name is missing or not valid.
    static let hubName = Self(rawValue: "hubName")
    /// A file of several hubs has a wrong line, no hub, or too many.
    static let pool = Self(rawValue: "pool")
}
