import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An HTTP/1.1 server on loopback whose answers come from a closure, for services that refuse, stall or lie. It closes
/// each connection after its answer.
final class ScriptedServer: Sendable {
    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var body = "{}"
        /// Keeps the connection open after the body, like a stream of events, until the server closes.
        var staysOpen = false
    }

    let url: String
    private let listener: Int32
    private let answer: @Sendable (_ request: String, _ number: Int) -> Answer
    private let lines = Mutex<[String]>([])
    private let open = Mutex<Set<Int32>>([])

    /// The request lines so far, without the version: `GET /readyz`.
    var requests: [String] { lines.withLock { $0 } }

    /// - Parameter answer: gets the request line without the version, and the number of the request from 0.
    static func with(
        _ answer: @escaping @Sendable (_ request: String, _ number: Int) -> Answer,
        _ body: (ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer(answer)
        defer { server.close() }
        try await body(server)
    }

    private init(_ answer: @escaping @Sendable (String, Int) -> Answer) throws {
        #if canImport(Glibc)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound, listen(listener, 64) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        self.listener = listener
        self.answer = answer
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread { [self] in
            // The thread that waits on a descriptor closes it: elsewhere its number could be another socket's by then.
            defer { closeDescriptor(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { [self] in serve(connection) }
            }
        }
    }

    private func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { open in
            for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            open.withLock { open in
                open.remove(connection)
                closeDescriptor(connection)
            }
        }
        guard let request = Self.read(connection) else { return }
        let number = lines.withLock { lines in
            lines.append(request)
            return lines.count - 1
        }
        let answer = answer(request, number)
        var head = ["HTTP/1.1 \(answer.status) Scripted", "Connection: close"]
        head += answer.headers.map { "\($0): \($1)" }
        if !answer.staysOpen { head.append("Content-Length: \(answer.body.utf8.count)") }
        Self.write(head.joined(separator: "\r\n") + "\r\n\r\n" + answer.body, to: connection)
        guard answer.staysOpen else { return }
        _ = open.withLock { $0.insert(connection) }
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) > 0 {}
    }

    /// Reads a request with its body; `nil` if the client leaves before its end.
    private static func read(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard recv(connection, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }?.split(separator: ":").last
        for _ in 0..<(length.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0) {
            guard recv(connection, &byte, 1, 0) == 1 else { return nil }
        }
        return lines.first.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    }

    private static func write(_ text: String, to connection: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, noSignal) }
            guard count > 0 else { return }
            sent += count
        }
    }
}

/// A client that has left is no reason for a signal.
#if canImport(Glibc)
private let noSignal = Int32(MSG_NOSIGNAL)
private func closeDescriptor(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
#else
private let noSignal: Int32 = 0
private func closeDescriptor(_ descriptor: Int32) { _ = Darwin.close(descriptor) }
#endif
