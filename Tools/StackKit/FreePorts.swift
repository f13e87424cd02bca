#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// No adjacent free ports were found.
package struct NoFreePorts: Error {}

/// Finds `count` adjacent free TCP ports of 127.0.0.1.
///
/// - Returns: the first of them. Another process may take one before it is used.
package func freePorts(_ count: Int) throws -> Int {
    for _ in 0..<200 {
        let first = Int.random(in: 20_000..<30_000)
        if (first..<first + count).allSatisfy(isFree) { return first }
    }
    throw NoFreePorts()
}

private func isFree(_ port: Int) -> Bool {
    #if canImport(Glibc)
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
