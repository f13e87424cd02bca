import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A proxy of one TCP port that can stall (both ends stay open, nothing passes) and cut its connections.
final class TCPProxy: Sendable {
    private struct State {
        var isStalled = false
        var isClosed = false
        var connections: [Int32] = []
    }

    private let listener: Int32
    private let target: UInt16
    private let state = Mutex(State())
    let port: UInt16

    init(to target: Int) throws {
        self.target = UInt16(target)
        listener = TCPProxy.makeSocket()
        var address = TCPProxy.loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRINUSE) }
        port = in_port_t(bigEndian: address.sin_port)
        Thread.detachNewThread { self.accept() }
    }

    func stall() { state.withLock { $0.isStalled = true } }

    func cut() {
        state.withLock { state in
            for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
            state.connections = []
            state.isStalled = false
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        cut()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func accept() {
        while true {
            #if canImport(Glibc)
            let client = Glibc.accept(listener, nil, nil)
            #else
            let client = Darwin.accept(listener, nil, nil)
            #endif
            guard client >= 0, !state.withLock({ $0.isClosed }) else { return }
            let server = TCPProxy.makeSocket()
            var address = TCPProxy.loopback(target)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                shutdown(client, Int32(SHUT_RDWR))
                continue
            }
            state.withLock { $0.connections += [client, server] }
            Thread.detachNewThread { self.copy(from: client, to: server) }
            Thread.detachNewThread { self.copy(from: server, to: client) }
        }
    }

    private func copy(from source: Int32, to sink: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            if state.withLock({ $0.isStalled }) { continue }
            guard send(sink, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(sink, Int32(SHUT_RDWR))
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
        socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
