/// A hub and the key to it: the parsed connection string and the hub's name.
public struct NotificationHubConfiguration: Sendable {
    /// The namespace's address.
    public let endpoint: HubEndpoint
    /// The hub's name, as given.
    public let hubName: String
    /// The name of the access rule (`DefaultFullSharedAccessSignature`, …).
    public let keyName: String
    /// The rule's key, used as the UTF-8 of its text and never decoded.
    let key: String
    /// The file that the connection string came from, and is read from again when it changes; `nil` for none.
    public var connectionStringFile: String?
    private let insecureHost: String?

    /// - Parameters:
    ///   - connectionString: as copied from the hub's portal page. `http://` endpoints are for loopback hosts only.
    ///   - hubName: 1 to 260 characters; empty takes the connection string's `EntityPath`.
    ///   - insecureHost: the one host, beside loopback, that an `http://` endpoint may name (`HUB_INSECURE_HOST`): a
    ///     hub emulator in a private container network.
    /// - Throws: what to correct; never with the key in it.
    public init(
        connectionString: String, hubName: String, insecureHost: String? = nil
    ) throws(NotificationHubConfigurationError) {
        let parsed = try HubConnectionString(connectionString, insecureHost: insecureHost)
        let name = hubName.isEmpty ? parsed.entityPath ?? "" : hubName
        guard !name.isEmpty else {
            throw .init(.hubName, "The name of the hub is missing.")
        }
        guard name.count <= 260, name.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw .init(.hubName, "A hub's name has at most 260 characters, no blanks and no control characters.")
        }
        endpoint = parsed.endpoint
        self.hubName = name
        keyName = parsed.keyName
        key = parsed.key
        self.insecureHost = insecureHost
    }

    /// The same hub with the rule and key of a later connection string.
    ///
    /// - Throws: what to correct; another endpoint is none of it, for connections are open to this one.
    func renewed(connectionString: String) throws(NotificationHubConfigurationError) -> Self {
        let renewed = try Self(connectionString: connectionString, hubName: hubName, insecureHost: insecureHost)
        guard renewed.endpoint == endpoint else {
            throw .init(.endpoint, "The connection string names another endpoint: restart the service to use it.")
        }
        return renewed
    }

    /// The path of the hub, percent-encoded, with a slash before it and none after.
    var path: String { "/" + PercentEncoding.encode(hubName) }

    /// The hub's URL: what a shared access signature is made for.
    var resource: String { endpoint.url + path }

    /// The newest version of the data plane, which the official clients use.
    static let apiVersion = "2020-06"
}

extension NotificationHubConfiguration: CustomStringConvertible, CustomDebugStringConvertible {
    /// URL and rule; never the key.
    public var description: String { "\(resource) (\(keyName))" }
    public var debugDescription: String { description }
}

extension NotificationHubConfiguration: CustomReflectable {
    /// `dump` and string interpolation of containers reflect; the key stays out of that too.
    public var customMirror: Mirror {
        Mirror(self, children: ["endpoint": endpoint, "hubName": hubName, "keyName": keyName])
    }
}
