import CRabbitMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The reason why a connection could not be opened or has broken. librabbitmq itself tells only "a socket error
/// occurred" or "SSL connection failed".
enum ConnectFailure {
    /// - Parameters:
    ///   - status: of `amqp_socket_open_noblock`.
    ///   - error: `errno` after the call; 0 before it.
    ///   - verification: of the certificate, for a connection with TLS.
    /// - Returns: `nil` if librabbitmq's own text says it all.
    static func reason(
        status: Int32, error: Int32, node: AMQPConfiguration.Node, verification: CertificateVerification
    ) -> String? {
        switch status {
        case AMQP_STATUS_SOCKET_ERROR.rawValue, AMQP_STATUS_TCP_ERROR.rawValue:
            return text(of: error) ?? probe(node.host, node.port).flatMap(text(of:))
        case AMQP_STATUS_TIMEOUT.rawValue: return "no answer in time"
        case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED.rawValue:
            return "the host name does not match: the certificate is not for \(node.host)"
        case AMQP_STATUS_SSL_PEER_VERIFY_FAILED.rawValue:
            return "certificate verify failed" + (verification.problem.map { ": \($0)" } ?? "")
        case AMQP_STATUS_SSL_CONNECTION_FAILED.rawValue, AMQP_STATUS_SSL_ERROR.rawValue:
            guard let reason = verification.handshakeError else {
                return "the TLS handshake failed: " + (text(of: error) ?? "the peer closed the connection")
            }
            let isPlain = ["wrong version number", "packet length too long", "http request"].contains(reason)
            return "the TLS handshake failed: \(reason)" + (isPlain ? " (the port does not speak TLS)" : "")
        default: return nil
        }
    }

    /// The text of an error of the network; `nil` for any other, which is about something else.
    static func text(of error: Int32) -> String? {
        switch error {
        case ECONNREFUSED: "connection refused"
        case ECONNRESET, EPIPE, ECONNABORTED: "the peer closed the connection"
        case EHOSTUNREACH, EHOSTDOWN: "no route to the host"
        case ENETUNREACH, ENETDOWN: "the network is unreachable"
        case ETIMEDOUT: "no answer in time"
        case EADDRNOTAVAIL: "no local address or port is free"
        case EACCES, EPERM: "the system forbids the connection"
        case EMFILE, ENFILE: "no file descriptor is free"
        default: nil
        }
    }

    /// Connects once more, for the reason that librabbitmq has not kept: after a connect that did not fail at once, it
    /// reads the socket's error and drops it. Waits for at most half a second.
    ///
    /// - Returns: the error of the last address; `nil` if one can be connected, or does not answer.
    static func probe(_ host: String, _ port: UInt16) -> Int32? {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return nil }
        defer { freeaddrinfo(list) }
        var last: Int32?
        var next = list
        while let address = next?.pointee {
            guard let error = probe(address) else { return nil }
            last = error
            next = address.ai_next
        }
        return last
    }

    private static func probe(_ address: addrinfo) -> Int32? {
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return nil }
        guard errno == EINPROGRESS else { return errno }
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&wait, 1, 500) == 1 else { return nil }
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error != 0 else { return nil }
        return error
    }
}
