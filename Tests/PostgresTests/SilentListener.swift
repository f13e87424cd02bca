import Foundation
import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs a test with a loopback port that takes connections and never says a word.
func withSilentListener(_ body: (_ port: Int) async throws -> Void) async throws {
    #if canImport(Glibc)
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard isBound, listen(descriptor, 8) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
    try await body(Int(UInt16(bigEndian: address.sin_port)))
}

extension PostgresServer {
    /// Makes the server ask `securepush` for a password, once it reads its configuration again.
    func requirePasswords() async throws {
        let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        let file = try FileHandle(forWritingTo: folder.appending(path: "data/pg_hba.conf"))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(rules.utf8))
        try file.close()
    }
}
