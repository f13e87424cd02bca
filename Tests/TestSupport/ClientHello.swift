import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The first message of a TLS client (RFC 8446, 4.1.2).
package struct ClientHello: Sendable {
    /// What it offers in `supported_versions`, without the reserved values of RFC 8701.
    package let versions: [UInt16]

    struct Malformed: Error {}

    /// Listens on loopback, lets `connect` connect to the port, and reads what comes first. The connection is then
    /// closed without an answer.
    package static func capture(_ connect: @escaping @Sendable (Int) async -> Void) async throws -> ClientHello {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw Malformed() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(listener, pointer, length) == 0, listen(listener, 8) == 0,
                    getsockname(listener, pointer, &length) == 0
                else { return UInt16(0) }
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            }
        }
        guard port != 0 else {
            close(listener)
            throw Malformed()
        }
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                await withCheckedContinuation { continuation in
                    Thread { continuation.resume(returning: Self.firstRecord(of: listener)) }.start()
                }
            }
            group.addTask {
                await connect(Int(port))
                return nil
            }
            defer { group.cancelAll() }
            for try await bytes in group { if let bytes { return try ClientHello(record: bytes) } }
            throw Malformed()
        }
    }

    private static func firstRecord(of listener: Int32) -> [UInt8] {
        defer { close(listener) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return [] }
        defer { close(connection) }
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < 5 || bytes.count < 5 + (Int(bytes[3]) << 8 | Int(bytes[4])) {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// - Parameter record: the record layer's header and the whole message.
    init(record: [UInt8]) throws {
        var rest = record[...]
        func take(_ count: Int) throws -> ArraySlice<UInt8> {
            guard rest.count >= count else { throw Malformed() }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func number(_ count: Int) throws -> Int { try take(count).reduce(0) { $0 << 8 | Int($1) } }
        // Record header, message header, legacy version and random.
        guard try number(1) == 22 else { throw Malformed() }
        _ = try take(4 + 4)
        let legacy = try number(2)
        _ = try take(32)
        _ = try take(try number(1))
        _ = try take(try number(2))
        _ = try take(try number(1))
        rest = try take(try number(2))
        var versions: [UInt16] = []
        while !rest.isEmpty {
            let kind = try number(2)
            let body = Array(try take(try number(2)))
            guard kind == 43 else { continue }
            for index in stride(from: 1, to: body.count - 1, by: 2) {
                let version = UInt16(body[index]) << 8 | UInt16(body[index + 1])
                if version & 0x0F0F != 0x0A0A { versions.append(version) }
            }
        }
        // Without the extension the client's highest version is the legacy one.
        self.versions = versions.isEmpty ? [UInt16(legacy)] : versions
    }
}
