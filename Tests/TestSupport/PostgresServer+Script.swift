import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The scripts of this repository, run as processes.
enum Script {
    struct Failure: Error, CustomStringConvertible {
        let arguments: [String]
        let output: String
        var description: String { "scripts/postgres.sh \(arguments.joined(separator: " ")) failed: \(output)" }
    }

    /// Runs `scripts/postgres.sh`, whose output goes into the error when it fails.
    static func postgres(_ arguments: String...) async throws {
        let process = Process()
        process.executableURL = TestEnvironment.packageRoot.appending(path: "scripts/postgres.sh")
        process.arguments = arguments
        // A file and not a pipe: the server that a script starts would hold a pipe open.
        let output = URL(filePath: NSTemporaryDirectory()).appending(path: "script-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        (process.standardOutput, process.standardError) = (handle, handle)
        let status = try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { waiter.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { waiter.resume(throwing: error) }
        }
        try handle.close()
        guard status == 0 else {
            throw Failure(arguments: arguments, output: (try? String(contentsOf: output, encoding: .utf8)) ?? "")
        }
    }
}

/// A loopback port that nothing listens on at the moment.
enum FreePort {
    static func find() throws -> Int {
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
        let isFound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isFound else { throw POSIXError(.EADDRNOTAVAIL) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
