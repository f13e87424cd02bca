import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A loopback port that takes connections and never says a word.
package struct SilentListener: Sendable {
    package let port: Int
    private let descriptor: Int32

    /// - Throws: `POSIXError` where no socket can be had.
    package init() throws {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound, listen(descriptor, 8) == 0 else {
            closeDescriptor(descriptor)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    package func close() { closeDescriptor(descriptor) }
}

/// The member of the same name hides the function.
private func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Glibc)
    _ = Glibc.close(descriptor)
    #else
    _ = Darwin.close(descriptor)
    #endif
}

/// Runs a test with a loopback port that takes connections and never says a word.
package func withSilentListener(_ body: (_ port: Int) async throws -> Void) async throws {
    let listener = try SilentListener()
    defer { listener.close() }
    try await body(listener.port)
}
