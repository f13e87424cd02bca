import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A web server on the loopback interface that sends fixed bytes, one thread per connection.
final class LoopbackServer: @unchecked Sendable {
    // Unchecked: the lock guards all that changes.
    private let lock = NSLock()
    private let socket: Int32
    private var heads: [String] = []
    let port: UInt16

    /// The heads of the requests that came.
    var requests: [String] { lock.withLock { heads } }

    /// - Parameters:
    ///   - pause: the time between two pieces, in seconds.
    ///   - answer: the bytes for a path, sent in pieces until the client has had enough; `nil` never answers.
    init(pause: TimeInterval = 0, _ answer: @escaping @Sendable (String) -> [Data]?) throws {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let socket = systemSocket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 && listen(socket, 16) == 0
                    && getsockname(socket, pointer, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        self.socket = socket
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while case let connection = accept(socket, nil, nil), connection >= 0 {
                Thread.detachNewThread { [weak self] in
                    Self.serve(connection, pause, answer) { head in self?.note(head) }
                }
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }

    private func note(_ head: String) { lock.withLock { heads.append(head) } }

    private static func serve(
        _ connection: Int32, _ pause: TimeInterval, _ answer: (String) -> [Data]?, _ note: (String) -> Void
    ) {
        defer { close(connection) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard recv(connection, &byte, 1, 0) == 1 else { return }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        note(text)
        guard let pieces = answer(String(text.split(separator: " ").dropFirst().first ?? "")) else {
            // Waits until the client goes away.
            while recv(connection, &byte, 1, 0) > 0 {}
            return
        }
        for piece in pieces {
            let isSent = piece.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Bool in
                var rest = bytes
                while !rest.isEmpty {
                    let count = send(connection, rest.baseAddress, rest.count, noSignal)
                    guard count > 0 else { return false }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
                return true
            }
            guard isSent else { return }
            if pause > 0 { Thread.sleep(forTimeInterval: pause) }
        }
    }

    #if canImport(Darwin)
    private static let noSignal: Int32 = 0
    #else
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// A whole response.
    static func response(_ status: String, _ headers: [String] = [], body: Data = Data()) -> [Data] {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"] + headers
        return [Data((head.joined(separator: "\r\n") + "\r\n\r\n").utf8), body]
    }
}

private func systemSocket(_ family: Int32, _ kind: Int32, _ number: Int32) -> Int32 { socket(family, kind, number) }
