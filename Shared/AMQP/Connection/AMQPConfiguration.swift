/// Where the broker is and how to speak to it. See ``init(url:connectionName:)`` for the form of its URL.
public struct AMQPConfiguration: Sendable {
    /// How to log in (SASL).
    enum Login: Sendable, Hashable {
        case plain(user: String, password: String)
        /// By the client certificate.
        case external(identity: String)
    }

    struct TLS: Sendable, Hashable {
        var verifiesPeer = true
        var authoritiesFile: String?
        var certificateFile: String?
        var keyFile: String?
    }

    /// One node of the broker's cluster.
    struct Node: Sendable, Hashable {
        var host: String
        var port: UInt16
        var virtualHost = "/"
        var login = Login.plain(user: "guest", password: "guest")
        var tls: TLS?
    }

    var nodes: [Node]
    /// The connection's name in the broker's management views.
    public var connectionName: String
    /// The longest silence of a live peer is twice this. Whole seconds; zero turns heartbeats off.
    public var heartbeat: Duration = .seconds(10)
    /// For TCP, TLS and login together.
    public var connectTimeout: Duration = .seconds(5)
    /// For the broker's answer to a declaration and its like.
    public var replyTimeout: Duration = .seconds(5)

    /// The largest number of channels that the broker may offer (`channel_max`); one is used.
    public var maxChannels: UInt16 = 16
    /// The largest frame in bytes that the broker may offer (`frame_max`).
    public var maxFrame: Int32 = 131_072

    /// The hosts of nodes whose identity is not verified by TLS.
    public var unverifiedHosts: [String] { nodes.filter { $0.tls?.verifiesPeer != true }.map(\.host) }

    /// The nodes without credentials, for logs.
    public var endpoints: String { nodes.map(\.description).joined(separator: ", ") }
}

extension AMQPConfiguration.Node: CustomStringConvertible {
    /// Host, port and virtual host; never the credentials.
    var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(tls == nil ? "amqp" : "amqps")://\(host):\(port)/\(virtualHost == "/" ? "%2F" : virtualHost)"
    }
}

extension AMQPConfiguration: CustomStringConvertible {
    public var description: String { endpoints }
}

/// A URL that cannot be used. Its message never holds a credential.
public struct AMQPConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    public var message: String
    public var description: String { message }
}
