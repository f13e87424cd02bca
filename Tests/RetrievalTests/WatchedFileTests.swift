import APITestSupport
import Authentication
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import TestSupport
import Testing

@testable import Retrieval

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files as a service has them: watched in the background.
@Suite("Requests while a file is read", .bothWays, .timeLimit(.minutes(3)))
struct WatchedFileTests {
    private static func watch(_ bench: RetrievalBench) {
        for source in bench.users.sources + [bench.sealer.source] { source.watch() }
        bench.issuer?.watchFiles()
    }

    /// A FIFO without a writer stands for a file system that does not answer: opening it blocks.
    private static func replaceByFIFO(_ path: String) {
        #expect(mkfifo(path + ".fifo", 0o600) == 0)
        #expect(rename(path + ".fifo", path) == 0)
    }

    private static func release(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
    }

    @Test(arguments: ["users", "signing-key.pem", "payload-keys"])
    func `A file system that does not answer stops nobody`(_ name: String) async throws {
        try await withRetrieval { bench in
            Self.watch(bench)
            let id = try await bench.accept("1")
            #expect(try await bench.get(id).status == .ok)
            let path = bench.folder + "/" + name
            Self.replaceByFIFO(path)
            try await Task.sleep(for: .seconds(1))
            for _ in 0..<50 { #expect(try await bench.get(id).status == .ok) }
            // Tokens and passwords that were not seen before are checked, too.
            for second in 1...3 {
                let token = try bench.token(at: .now - .seconds(second))
                let answer = try await bench.request(.get, "/api/notifications/\(id)", by: token)
                #expect(answer.status == .ok)
            }
            let byPassword = try await bench.request(.get, "/api/notifications/\(id)", by: bench.basic())
            #expect(byPassword.status == .ok, "\(byPassword.status)")
            // Nobody waits for the file any more when the test ends.
            Self.release(path)
        }
    }

    /// With 100,000 lines, and however the user is known.
    @Test func `A user who is removed from a long file is refused`() async throws {
        try await withRetrieval { bench in
            let path = bench.folder + "/users"
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            let hash = lines[0].split(separator: " ")[1]
            let others = (0..<100_000).map { "user\($0) \(hash)" }.joined(separator: "\n")
            Self.watch(bench)
            let id = try await bench.accept("1")
            let token = try bench.token()
            #expect(try await bench.request(.get, "/api/notifications/\(id)", by: token).status == .ok)
            #expect(try await bench.request(.get, "/api/notifications/\(id)", by: bench.basic()).status == .ok)
            try Data("bob \(hash)\n\(others)".utf8).write(to: URL(filePath: path), options: .atomic)
            try await expectEventually {
                try await bench.request(.get, "/api/notifications/\(id)", by: token).status == .unauthorized
            }
            #expect(
                try await bench.request(.get, "/api/notifications/\(id)", by: bench.basic()).status == .unauthorized)
        }
    }
}
