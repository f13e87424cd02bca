import Foundation

#if os(Linux)
import Glibc

/// An HTTP server on loopback that gives the same answers for ever: enough for ``URLSessionTransport``.
///
/// Unchecked, because nothing changes after the initialiser; each connection has a thread of its own.
final class LoopbackServer: @unchecked Sendable {
    let port: UInt16
    private let socketNumber: Int32
    private let answer: @Sendable (String) -> Data

    struct Failed: Error {}

    /// Listens.
    ///
    /// - Parameter answer: the JSON body for a path.
    init(_ answer: @escaping @Sendable (String) -> Data) throws {
        self.answer = answer
        socketNumber = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = socketNumber
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw Failed() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while case let connection = accept(socketNumber, nil, nil), connection >= 0 {
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    /// Ends the thread that accepts connections.
    func stop() {
        shutdown(socketNumber, Int32(SHUT_RDWR))
        close(socketNumber)
    }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while case let count = recv(connection, &buffer, buffer.count, 0), count > 0 {
            received.append(contentsOf: buffer[..<count])
            guard let end = received.range(of: Data("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
            let length = head.lowercased().firstMatch(of: /content-length: *(\d+)/).flatMap { Int($0.1) } ?? 0
            guard received.count >= end.upperBound + length else { continue }
            received.removeSubrange(..<(end.upperBound + length))
            received = Data(received)
            let body = answer(head.split(separator: " ").dropFirst().first.map(String.init) ?? "")
            let lines = ["HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: \(body.count)", "", ""]
            send(Data(lines.joined(separator: "\r\n").utf8) + body, to: connection)
        }
    }

    private func send(_ data: Data, to connection: Int32) {
        data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            guard let base = bytes.baseAddress else { return }
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(connection, base + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return }
                sent += count
            }
        }
    }
}
#endif
