/// Where the broker is and how to speak to it. See ``init(url:connectionName:)`` for the form of its URL.
package struct AMQPConfiguration: Sendable {
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
    package var connectionName: String
    /// The heartbeat interval in whole seconds; zero turns heartbeats off. A peer that is silent for twice this is
    /// dead.
    package var heartbeat: Duration = .seconds(10)
    /// The time limit for TCP, TLS and login together.
    package var connectTimeout: Duration = .seconds(5)
    /// The time limit for the broker's reply to a declaration or another command.
    package var replyTimeout: Duration = .seconds(5)

    /// The largest number of channels to negotiate (`channel_max`); one is used.
    package var maxChannels: UInt16 = 16
    /// The largest frame to negotiate, in bytes (`frame_max`).
    package var maxFrame: Int32 = 131_072

    /// The hosts of the nodes whose certificate is not verified by TLS.
    package var unverifiedHosts: [String] { nodes.filter { $0.tls?.verifiesPeer != true }.map(\.host) }

    /// The files of the client's private keys.
    package var keyFiles: [String] { nodes.compactMap { $0.tls?.keyFile } }

    /// Host and port, if there is only one node.
    package var onlyNode: (host: String, port: Int)? {
        nodes.count == 1 ? nodes.first.map { ($0.host, Int($0.port)) } : nil
    }

    /// Trusts a file of authorities where the URL names none (`cacertfile`).
    ///
    /// - Parameter file: in PEM; `nil` changes nothing.
    package mutating func useAuthorities(of file: String?) {
        guard let file else { return }
        for index in nodes.indices where nodes[index].tls?.authoritiesFile == nil {
            nodes[index].tls?.authoritiesFile = file
        }
    }

    /// The nodes without credentials, for logs.
    package var endpoints: String { nodes.map(\.description).joined(separator: ", ") }
}

extension AMQPConfiguration.Node: CustomStringConvertible {
    /// Host, port and virtual host, without credentials.
    var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(tls == nil ? "amqp" : "amqps")://\(host):\(port)/\(virtualHost == "/" ? "%2F" : virtualHost)"
    }
}

extension AMQPConfiguration: CustomStringConvertible {
    package var description: String { endpoints }
}

/// A URL that cannot be used. Its message never holds a credential.
package struct AMQPConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var message: String
    package var description: String { message }
}

extension AMQPConfiguration {
    /// Reads `amqp://` and `amqps://` URLs in RabbitMQ's form (its URI specification and URI query parameters).
    ///
    /// - Parameters:
    ///   - url: `amqp[s]://USER:PASSWORD@HOST:PORT/VHOST?PARAMETERS`, or several separated by commas: the nodes of a
    ///     cluster, tried in random order. User, password and virtual host are percent-decoded; the defaults are
    ///     `guest`, `guest`, port 5672 (5671 with TLS) and `/`. Parameters: `heartbeat` (seconds), `connection_timeout`
    ///     (milliseconds), `channel_max`, `frame_max` (bytes, at least 4096; 0 for the broker's value), `verify`
    ///     (`verify_peer` or `verify_none`), `cacertfile`, `certfile`, `keyfile`, `auth_mechanism` (`plain` or
    ///     `external`).
    ///   - connectionName: the connection's name in the broker's management views.
    /// - Throws: ``AMQPConfigurationError``.
    package init(url: String, connectionName: String) throws(AMQPConfigurationError) {
        self.init(nodes: [], connectionName: connectionName)
        for text in AMQPConfiguration.split(url) { try add(text) }
        if nodes.isEmpty { throw AMQPConfigurationError(message: "the AMQP URL is empty") }
    }

    /// Splits at commas before a scheme: any other comma may be part of a password.
    private static func split(_ list: String) -> [Substring] {
        var parts: [Substring] = []
        for piece in list.split(separator: ",", omittingEmptySubsequences: true) {
            if piece.contains("://") || parts.isEmpty {
                parts.append(piece)
            } else if let last = parts.popLast() {
                parts.append(list[last.startIndex..<piece.endIndex])
            }
        }
        return parts
    }

    private mutating func add(_ text: Substring) throws(AMQPConfigurationError) {
        guard let scheme = text.range(of: "://").map({ text[..<$0.lowerBound].lowercased() }),
            scheme == "amqp" || scheme == "amqps"
        else { throw AMQPConfigurationError(message: "an AMQP URL must begin with amqp:// or amqps://") }
        var rest = text.dropFirst(scheme.count + 3)
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        var node = Node(host: "", port: scheme == "amqps" ? 5671 : 5672)
        if scheme == "amqps" { node.tls = TLS() }
        if let slash = rest.firstIndex(of: "/") {
            let path = rest[rest.index(after: slash)...]
            // With one, a part of the password stands where host and port are expected, and would be shown as these.
            guard !path.utf8.contains(UInt8(ascii: "@")) else {
                throw AMQPConfigurationError(
                    message: "the AMQP URL has an @ after a slash: write / in the password as %2F, and @ as %40")
            }
            // By the specification an empty path is a virtual host with an empty name; nobody uses one.
            if !path.isEmpty { node.virtualHost = try decoded(path, "virtual host") }
            rest = rest[..<slash]
        }
        if let at = rest.lastIndex(of: "@") {
            try readCredentials(rest[..<at], into: &node)
            rest = rest[rest.index(after: at)...]
        }
        try readAddress(rest, into: &node)
        for parameter in query.split(separator: "&") { try read(parameter: parameter, into: &node) }
        nodes.append(node)
    }

    private func readCredentials(_ text: Substring, into node: inout Node) throws(AMQPConfigurationError) {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let user = try decoded(text[..<colon], "user")
        let password = colon == text.endIndex ? "guest" : try decoded(text[text.index(after: colon)...], "password")
        node.login = .plain(user: user, password: password)
    }

    private func readAddress(_ text: Substring, into node: inout Node) throws(AMQPConfigurationError) {
        var host = text
        var port: Substring?
        if text.first == "[", let end = text.firstIndex(of: "]") {
            host = text[text.index(after: text.startIndex)..<end]
            let after = text[text.index(after: end)...]
            if after.first == ":" { port = after.dropFirst() }
        } else if let colon = text.lastIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
        }
        let name = try decoded(host, "host")
        guard !name.isEmpty, !name.contains(where: { $0 == "," || $0 == "@" || $0.isWhitespace }) else {
            throw AMQPConfigurationError(message: "the AMQP URL's host is invalid")
        }
        node.host = name
        guard let port, !port.isEmpty else { return }
        guard let number = UInt16(port), number > 0 else {
            throw AMQPConfigurationError(message: "the AMQP URL's port must be a number from 1 to 65535")
        }
        node.port = number
    }

    private mutating func read(parameter: Substring, into node: inout Node) throws(AMQPConfigurationError) {
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let value = try decoded(parts.count > 1 ? parts[1] : "", "parameter")
        switch name {
        case "heartbeat": heartbeat = .seconds(try number(value, name, upTo: 65535))
        case "connection_timeout": connectTimeout = .milliseconds(max(1, try number(value, name, upTo: 3_600_000)))
        case "channel_max":
            // Zero means no limit (AMQP 0-9-1, connection.tune).
            maxChannels = UInt16(clamping: try number(value, name, upTo: 65_535))
        case "frame_max":
            let bytes = try number(value, name, upTo: Int(Int32.max))
            // Every peer must accept frames of 4,096 bytes (AMQP 0-9-1, section 4.2.3); 0 means no limit.
            guard bytes == 0 || bytes >= 4096 else { throw unusable(name) }
            maxFrame = Int32(clamping: bytes)
        case "verify":
            guard value == "verify_peer" || value == "verify_none" else { throw unusable(name) }
            node.tls?.verifiesPeer = value == "verify_peer"
        case "cacertfile": node.tls?.authoritiesFile = value
        case "certfile": node.tls?.certificateFile = value
        case "keyfile": node.tls?.keyFile = value
        case "auth_mechanism":
            guard value == "plain" || value == "external" else { throw unusable(name) }
            if value == "external" { node.login = .external(identity: "") }
        default:
            // With a question mark in the password, the name is a part of the password, so it is not shown.
            throw AMQPConfigurationError(
                message: "the AMQP URL has an unknown parameter; write ? in the password as %3F. Known are heartbeat, "
                    + "connection_timeout, channel_max, frame_max, verify, cacertfile, certfile, keyfile and "
                    + "auth_mechanism")
        }
    }

    private func number(_ text: String, _ name: String, upTo limit: Int) throws(AMQPConfigurationError) -> Int {
        guard let number = Int(text), (0...limit).contains(number) else { throw unusable(name) }
        return number
    }

    private func unusable(_ what: String) -> AMQPConfigurationError {
        AMQPConfigurationError(message: "the AMQP URL's \(what) is invalid")
    }

    private func decoded(_ text: Substring, _ what: String) throws(AMQPConfigurationError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                guard let high = rest.popFirst(), let low = rest.popFirst(),
                    let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
                else { throw unusable(what) }
                bytes.append(value)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw unusable(what) }
        return text
    }
}

extension Substring {
    /// The range of the first occurrence of an ASCII text.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
