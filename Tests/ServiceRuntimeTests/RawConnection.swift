import StackKit
import Synchronization
import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A TCP connection to a port of 127.0.0.1 on which a test sends what no client library would.
final class RawConnection: Sendable {
    struct CannotConnect: Error { let number: Int32 }

    private let descriptor: Int32
    private let state = Mutex((text: "", isClosed: false))

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw CannotConnect(number: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        // A connection that the other side has closed is found by reading.
        _ = bytes.withUnsafeBytes { systemSend(descriptor, $0) }
    }

    /// Tells the other side that nothing more will be sent.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// All that has come so far.
    var text: String {
        read()
        return state.withLock { $0.text }
    }

    /// Whether the other side has closed.
    var isClosed: Bool {
        read()
        return state.withLock { $0.isClosed }
    }

    /// Waits for an answer that contains a text.
    func receives(_ part: String) async throws -> Bool { try await eventually { text.contains(part) } }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                let part = String(decoding: buffer[..<count], as: UTF8.self)
                state.withLock { $0.text += part }
            } else {
                if count == 0 || (errno != EAGAIN && errno != EINTR) { state.withLock { $0.isClosed = true } }
                return
            }
        }
    }
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
    send(descriptor, bytes.baseAddress, bytes.count, 0)
    #endif
}
