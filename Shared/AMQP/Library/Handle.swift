import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The only owner of a connection's C state. It is used on one thread at a time: librabbitmq has no locks.
///
/// Only this folder calls librabbitmq, and only Swift values leave it.
final class Handle {
    /// The only channel that is used.
    static let channel: amqp_channel_t = 1

    let state: amqp_connection_state_t
    let arena = Arena()
    let isTLS: Bool
    /// The negotiated heartbeat interval, or `nil` for none.
    var heartbeat: Duration?
    var content: IncomingContent?
    var names = RepeatedStrings()
    private let verification = CertificateVerification()
    /// How much of an arriving message is held.
    let limits: AMQPReceiveLimits

    /// Connects and logs in. Blocks for at most `connectTimeout`, and as long as the resolver takes to look up the
    /// name.
    init(
        node: AMQPConfiguration.Node, configuration: AMQPConfiguration, limits: AMQPReceiveLimits = AMQPReceiveLimits()
    ) throws(AMQPError) {
        guard let state = amqp_new_connection() else {
            throw AMQPError(.connectFailed, "no memory for a connection")
        }
        self.state = state
        isTLS = node.tls != nil
        self.limits = limits
        // From here on, a failure runs `deinit`, which frees the state.
        try connect(to: node, configuration: configuration)
    }

    // Closes the socket too, without `connection.close`.
    deinit { amqp_destroy_connection(state) }

    var descriptor: Int32 { amqp_get_sockfd(state) }

    /// Sends `connection.close` and waits for the reply, at most one second.
    func close() {
        setTimeout(.seconds(1))
        _ = amqp_connection_close(state, AMQP_REPLY_SUCCESS)
    }

    /// Sets how long a call waits for the broker's reply. After a timeout the connection is unusable.
    func setTimeout(_ timeout: Duration) {
        var time = timeval(timeout)
        _ = amqp_set_rpc_timeout(state, &time)
    }

    /// Throws unless the last call that waited for a reply succeeded.
    func check(_ what: @autoclosure () -> String) throws(AMQPError) {
        let reply = amqp_get_rpc_reply(state)
        guard reply.reply_type != AMQP_RESPONSE_NORMAL else { return }
        if let error = AMQPError(reply, doing: what()) { throw error }
    }

    /// Throws if the status is an error.
    func check(_ status: Int32, _ what: @autoclosure () -> String) throws(AMQPError) {
        if status < 0 { throw AMQPError(status: status, doing: what()) }
    }
}

extension timeval {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init()
        tv_sec = .init(seconds)
        tv_usec = .init(attoseconds / 1_000_000_000_000)
    }
}

extension Handle {
    func connect(to node: AMQPConfiguration.Node, configuration: AMQPConfiguration) throws(AMQPError) {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        let socket = try node.tls.map { tls throws(AMQPError) in try tlsSocket(tls) } ?? amqp_tcp_socket_new(state)
        guard let socket else { throw AMQPError(.connectFailed, "no memory for a socket") }
        var timeout = timeval(configuration.connectTimeout)
        errno = 0
        let status = amqp_socket_open_noblock(socket, node.host, Int32(node.port), &timeout)
        if status < 0 {
            let reason = ConnectFailure.reason(status: status, error: errno, node: node, verification: verification)
            throw AMQPError(openingStatus: status, node: node, reason: reason)
        }
        let left = max(.milliseconds(100), ContinuousClock.now.duration(to: deadline))
        timeout = timeval(left)
        _ = amqp_set_handshake_timeout(state, &timeout)
        setTimeout(left)
        try logIn(node, configuration)
        setTimeout(configuration.replyTimeout)
        let seconds = amqp_get_heartbeat(state)
        heartbeat = seconds > 0 ? .seconds(Int(seconds)) : nil
        _ = amqp_channel_open(state, Handle.channel)
        try check("opening a channel at \(node)")
    }

    private func logIn(_ node: AMQPConfiguration.Node, _ configuration: AMQPConfiguration) throws(AMQPError) {
        defer { arena.reset() }
        var properties = arena.table(Handle.clientProperties(connectionName: configuration.connectionName))
        // The broker's value wins if it is shorter.
        let heartbeat = Int32(clamping: configuration.heartbeat.components.seconds)
        let reply =
            switch node.login {
            case .plain(let user, let password):
                crabbitmq_login_plain(
                    state, node.virtualHost, Int32(configuration.maxChannels), configuration.maxFrame, heartbeat,
                    &properties, user, password)
            case .external(let identity):
                crabbitmq_login_external(
                    state, node.virtualHost, Int32(configuration.maxChannels), configuration.maxFrame, heartbeat,
                    &properties, identity)
            }
        guard var error = AMQPError(reply, doing: "logging in at \(node)") else { return }
        // An old broker, or one configured not to give reasons, only closes the connection.
        if error.code == .connectionLost {
            error.code = .connectFailed
            error.message += ": does the port speak AMQP \(isTLS ? "over TLS" : "without TLS")?"
        }
        throw error
    }

    /// Without these capabilities the broker reports neither alarms nor cancelled consumers, and closes the connection
    /// without a reason if the password is wrong.
    static func clientProperties(connectionName: String) -> AMQPTable {
        let capabilities: AMQPTable = [
            "authentication_failure_close": true, "basic.nack": true, "connection.blocked": true,
            "consumer_cancel_notify": true, "exchange_exchange_bindings": true, "publisher_confirms": true,
        ]
        return [
            "product": "SecurePush AMQP", "connection_name": .string(connectionName),
            "capabilities": .table(capabilities),
        ]
    }

    private func tlsSocket(_ tls: AMQPConfiguration.TLS) throws(AMQPError) -> OpaquePointer? {
        guard let socket = amqp_ssl_socket_new(state) else { return nil }
        amqp_ssl_socket_set_verify_peer(socket, tls.verifiesPeer ? 1 : 0)
        amqp_ssl_socket_set_verify_hostname(socket, tls.verifiesPeer ? 1 : 0)
        _ = amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST)
        if tls.verifiesPeer {
            verification.observe(socket)
            guard let authorities = tls.authoritiesFile ?? AMQPConfiguration.TLS.systemAuthoritiesFile else {
                throw AMQPError(.tls, "found no CA bundle of the system: name one with ?cacertfile=")
            }
            guard amqp_ssl_socket_set_cacert(socket, authorities) == 0 else {
                throw AMQPError(.tls, "\(authorities) cannot be used as CA bundle")
            }
        }
        if let certificate = tls.certificateFile, let key = tls.keyFile {
            guard amqp_ssl_socket_set_key(socket, certificate, key) == 0 else {
                throw AMQPError(.tls, "\(certificate) and \(key) cannot be used as client certificate")
            }
        }
        return socket
    }
}

extension AMQPError {
    fileprivate init(openingStatus status: Int32, node: AMQPConfiguration.Node, reason: String?) {
        self.init(status: status, doing: "connecting to \(node)", reason: reason)
        if code != .tls { code = .connectFailed }
    }
}

extension AMQPConfiguration.TLS {
    /// The system's file of certificate authorities; librabbitmq 0.11 cannot ask OpenSSL for it.
    static var systemAuthoritiesFile: String? {
        let named = getenv("SSL_CERT_FILE").map { String(cString: $0) }
        let known = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
            "/opt/homebrew/etc/openssl@3/cert.pem", "/usr/local/etc/openssl@3/cert.pem",
        ]
        return ([named].compactMap { $0 } + known).first { access($0, R_OK) == 0 }
    }
}
