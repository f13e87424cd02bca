import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An HTTP proxy for one connection after another: it takes `CONNECT` for any host (RFC 9110, 9.3.6) and connects to
/// the same port of this machine.
final class ConnectProxy: Sendable {
    let port: Int
    private let listener: Int32
    private let received = Mutex<[String]>([])

    /// The heads of the requests so far.
    var heads: [String] { received.withLock { $0 } }

    struct Unavailable: Error {}

    /// Runs a proxy as long as the closure.
    static func with(_ body: (ConnectProxy) async throws -> Void) async throws {
        let proxy = try ConnectProxy()
        // Closes the listener, so the thread ends with its last connection.
        defer { shutdown(proxy.listener, Int32(SHUT_RDWR)) }
        Thread.detachNewThread { proxy.serve() }
        try await body(proxy)
    }

    private init() throws {
        let socket = Self.makeSocket()
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 8) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        guard isBound else { throw Unavailable() }
        listener = socket
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    private func serve() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            tunnel(client)
            close(client)
        }
        close(listener)
    }

    private func tunnel(_ client: Int32) {
        var head = ""
        while !head.hasSuffix("\r\n\r\n"), let bytes = Self.receive(client, upTo: 1) {
            head += String(decoding: bytes, as: UTF8.self)
        }
        received.withLock { $0.append(head) }
        let words = head.split(separator: " ")
        guard words.first == "CONNECT", let port = words.dropFirst().first?.split(separator: ":").last,
            let number = UInt16(port)
        else { return Self.send(client, "HTTP/1.1 405 Method Not Allowed\r\n\r\n") }
        let server = Self.makeSocket()
        defer { close(server) }
        var address = Self.loopback(number)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return Self.send(client, "HTTP/1.1 502 Bad Gateway\r\n\r\n") }
        Self.send(client, "HTTP/1.1 200 Connection established\r\n\r\n")
        var sockets = [pollfd(fd: client, events: Int16(POLLIN), revents: 0)]
        sockets.append(pollfd(fd: server, events: Int16(POLLIN), revents: 0))
        while poll(&sockets, 2, 30_000) > 0 {
            for (index, other) in [(0, server), (1, client)] where sockets[index].revents != 0 {
                guard let bytes = Self.receive(sockets[index].fd, upTo: 65_536) else { return }
                _ = bytes.withUnsafeBytes { Glibc.send(other, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
        }
    }

    /// `nil` at the end.
    private static func receive(_ socket: Int32, upTo count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(socket, &bytes, count, 0)
        return received > 0 ? Array(bytes[..<received]) : nil
    }

    private static func send(_ socket: Int32, _ text: String) {
        _ = Array(text.utf8).withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    private static func makeSocket() -> Int32 { Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
