import Foundation
import StackKit
import TestSupport
import Testing

/// Starts that fail end soon, with a sentence and an exit code, and never by a signal.
@Suite("Starts that fail", .serialized, .timeLimit(.minutes(5))) struct FailedStartTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let settings: [String: String]
        let code: Int32
        /// In the sentence.
        let word: String
        /// The services that have such a setting.
        var services = LooseService.names

        var testDescription: String { name }
    }

    private static let tls = ["TLS_CERTIFICATE_FILE": "good.pem", "TLS_PRIVATE_KEY_FILE": "good-key.pem"]

    static let cases = [
        Case(
            name: "unusable pair", settings: tls.merging(["TLS_CERTIFICATE_FILE": "garbage"]) { $1 }, code: 78,
            word: "TLS_CERTIFICATE_FILE"),
        Case(
            name: "unusable key", settings: tls.merging(["TLS_PRIVATE_KEY_FILE": "garbage"]) { $1 }, code: 78,
            word: "TLS_PRIVATE_KEY_FILE"),
        Case(
            name: "key of another certificate", settings: tls.merging(["TLS_PRIVATE_KEY_FILE": "other-key.pem"]) { $1 },
            code: 78, word: "TLS_PRIVATE_KEY_FILE"),
        Case(name: "unknown host", settings: ["HTTP_HOST": "nosuch.invalid"], code: 78, word: "HTTP_HOST"),
        Case(name: "half an address", settings: ["HTTP_HOST": "[::1"], code: 78, word: "HTTP_HOST"),
        Case(
            name: "page of an earlier version", settings: ["ADMIN_PORT": "8083"], code: 78, word: "ADMIN_PORT",
            services: ["ingest"]),
        Case(
            name: "open page without a password", settings: ["HTTP_HOST": "0.0.0.0", "ALLOW_INSECURE": "http"],
            code: 78, word: "ADMIN_PASSWORD_FILE", services: ["operator"]),
        Case(
            name: "foreign address",
            settings: ["HTTP_HOST": "192.0.2.1", "ALLOW_INSECURE": "http", "ADMIN_PASSWORD_FILE": "payload-keys"],
            code: 1, word: "cannot listen"),
        Case(
            name: "key ring", settings: ["PAYLOAD_KEYS_FILE": "garbage"], code: 78, word: "PAYLOAD_KEYS_FILE",
            services: ["ingest", "retrieval"]),
        Case(
            name: "database in a file", settings: ["DATABASE_URL": "sqlite:garbage/x.sqlite"], code: 78,
            word: "DATABASE_URL", services: ["ingest", "retrieval", "dispatcher", "operator"]),
        Case(
            name: "database in a file, in a file", settings: ["DATABASE_URL": "", "DATABASE_URL_FILE": "database-url"],
            code: 78, word: "DATABASE_URL_FILE", services: ["ingest"]),
        Case(
            name: "audit log in a folder", settings: ["AUDIT_LOG": "/proc"], code: 78, word: "AUDIT_LOG",
            services: ["ingest", "retrieval", "dispatcher", "operator"]),
        Case(
            name: "push key", settings: ["PUSH_SIGNING_KEY_FILE": "garbage"], code: 78, word: "PUSH_SIGNING_KEY_FILE",
            services: ["dispatcher"]),
        Case(
            name: "public keys", settings: ["PUSH_VERIFICATION_KEYS_FILE": "garbage"], code: 78,
            word: "PUSH_VERIFICATION_KEYS_FILE", services: ["retrieval"]),
        Case(
            name: "hubs", settings: ["HUB_POOL_FILE": "garbage", "HUB_NAME": "", "HUB_CONNECTION_STRING": ""], code: 78,
            word: "HUB_POOL_FILE", services: ["retrieval", "dispatcher"]),
    ]

    @Test(arguments: cases)
    func `A start that fails ends with a sentence`(_ start: Case) async throws {
        try await withFiles { folder in
            for service in start.services { try await expect(start, service, folder) }
        }
    }

    @Test func `A start that fails under load ends with a sentence`() async throws {
        try await withFiles { folder in
            let taken = try await Self.taken(folder)
            defer { taken.program.send(SIGKILL) }
            let start = Case(
                name: "port in use", settings: ["HTTP_PORT": "\(taken.port)"], code: 1, word: "the address is in use")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for service in LooseService.names + LooseService.names {
                    group.addTask { try await expect(start, service, folder) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// With the log of a collector that stands still, too.
    @Test func `A start that fails does not wait for the log`() async throws {
        try await withFiles { folder in
            let pipe = folder.appending(path: "pipe").path
            let reader = try Self.fullPipe(pipe)
            defer { close(reader) }
            for settings in [["HTTP_HOST": "nosuch.invalid"], ["HTTP_PORT": "none"]] {
                let service = try LooseService(
                    "retrieval", #"2> "$PIPE""#, settings.merging(["PIPE": pipe]) { $1 }, folder: folder)
                #expect(await service.program.waitUntilEnd(within: .seconds(30)))
                #expect(service.program.exitCode == 78)
            }
        }
    }

    @Test func `A start that fails waits for a log that is read late`() async throws {
        try await withLooseFolder { folder in
            let pipe = folder.appending(path: "pipe").path
            let reader = try Self.fullPipe(pipe)
            defer { close(reader) }
            let service = try LooseService(
                "retrieval", #"2> "$PIPE""#, ["HTTP_PORT": "none", "PIPE": pipe], folder: folder)
            // Longer than the end after a signal waits for the log.
            try await Task.sleep(for: .milliseconds(1500))
            var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
            let isThere = try await eventually {
                while case let count = read(reader, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
                return String(decoding: bytes, as: UTF8.self).contains("error: HTTP_PORT")
            }
            #expect(isThere)
            #expect(await service.program.waitUntilEnd(within: .seconds(30)) && service.program.exitCode == 78)
        }
    }

    /// Makes a pipe that takes nothing more.
    ///
    /// - Returns: its reader.
    private static func fullPipe(_ path: String) throws -> Int32 {
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        let writer = open(path, O_WRONLY | O_NONBLOCK)
        defer { close(writer) }
        let rest = [UInt8](repeating: UInt8(ascii: "-"), count: 4096)
        while write(writer, rest, rest.count) > 0 {}
        return reader
    }

    @Test(arguments: ["[::1]", "::1", "localhost", "127.0.0.1"])
    func `A host may have each form`(_ host: String) async throws {
        try await withFiles { folder in
            let process = try ProcessUnderTest(
                "hub-emulator",
                environment: ["HTTP_HOST": host, "HTTP_PORT": "0", "HUB_NAME": "hub", "LOG_FORMAT": "json"],
                folder: folder)
            defer { process.kill() }
            #expect(try await process.port() > 0)
            process.terminate()
            #expect(try await process.exitCode() == 0)
        }
    }

    private func expect(_ start: Case, _ service: String, _ folder: URL) async throws {
        let port = try freePorts(1)
        let process = try ProcessUnderTest(
            service, environment: LooseService.settings(folder, port: port).merging(start.settings) { $1 },
            folder: folder)
        defer { process.kill() }
        let code = try await process.exitCode(within: .seconds(30))
        let text = process.standardError
        #expect(code == start.code, "\(start.name), \(service): \(text.suffix(1000))")
        #expect(
            text.contains("error: ") && text.contains(start.word), "\(start.name), \(service): \(text.suffix(1000))")
        #expect(!text.contains("Fatal error"), "\(start.name), \(service)")
    }

    /// A service that has a port already.
    private static func taken(_ folder: URL) async throws -> LooseService {
        let service = try LooseService("hub-emulator", "", folder: folder)
        try await service.waitUntilLive()
        return service
    }

    private func withFiles(_ body: (URL) async throws -> Void) async throws {
        try await withLooseFolder { folder in
            try Data("garbage\n".utf8).write(to: folder.appending(path: "garbage"))
            try Data("sqlite:garbage/x.sqlite\n".utf8).write(to: folder.appending(path: "database-url"))
            for name in ["good", "other"] {
                let place = folder.appending(path: name).path
                try await run(
                    "openssl",
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                        "-subj", "/CN=\(name)", "-keyout", "\(place)-key.pem", "-out", "\(place).pem",
                    ])
            }
            try await body(folder)
        }
    }
}
