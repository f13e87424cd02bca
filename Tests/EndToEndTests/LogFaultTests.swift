import Foundation
import Foundations
import StackKit
import Testing

/// Services whose standard error or standard output nobody reads, is closed, or goes to a full disk.
@Suite("Logs that nobody takes", .serialized, .timeLimit(.minutes(5))) struct LogFaultTests {
    /// A pipe that is open for reading and never read, as that of a collector that stands still.
    private static let unread = #"2> "$PIPE""#

    private func withService(
        _ name: String, _ redirections: String, _ more: [String: String] = [:],
        _ body: (LooseService, _ reader: Int32) async throws -> Void
    ) async throws {
        try await withLooseFolder { folder in
            let pipe = folder.appending(path: "pipe").path
            try #require(mkfifo(pipe, 0o600) == 0)
            let reader = open(pipe, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            let settings = ["ACCESS_LOG": "true", "LOG_FORMAT": "json", "PIPE": pipe]
            let service = try LooseService(name, redirections, settings.merging(more) { $1 }, folder: folder)
            defer { service.program.send(SIGKILL) }
            try await service.waitUntilLive()
            try await body(service, reader)
        }
    }

    @Test(arguments: LooseService.names, [1, 2])
    func `A pipe that nobody reads holds no request and no end`(_ name: String, signals: Int) async throws {
        try await withService(name, Self.unread) { service, reader in
            #if os(Linux)
            // With 64 KiB, most of the test would be the time to fill the pipe (F_SETPIPE_SZ, fcntl(2)).
            try #require(fcntl(reader, 1031, 4096) == 4096)
            let requests = 240
            #else
            let requests = 2400
            #endif
            // Many times what the pipe takes.
            try await service.fill(requests)
            #expect(try await service.get("/livez").status == 200)
            #expect(try await service.get("/metrics").status == 200)
            service.program.send(SIGTERM)
            if signals == 2 { service.program.send(SIGTERM) }
            #expect(await service.program.waitUntilEnd(within: patience))
            if signals == 1 { #expect(service.program.exitCode == 0) }
        }
    }

    @Test func `A pipe that is read again says what is missing`() async throws {
        try await withService("hub-emulator", Self.unread, ["LOG_LEVEL": "trace"]) { service, reader in
            var requests = 0
            while try await service.figure("securepush_log_lines_dropped_total") == 0, requests < 80_000 {
                try await service.fill(1000)
                requests += 1000
            }
            #expect(try await service.figure("securepush_log_lines_dropped_total") > 0)
            let text = try await read(reader) { $0.contains("Log lines were dropped") }
            let lines = text.split(separator: "\n").dropLast()
            #expect(lines.allSatisfy { JSONValue(text: String($0)) != nil }, "A line was cut.")
            service.program.send(SIGTERM)
            // What is written before a normal end is not lost.
            let end = try await read(reader) { $0.contains(#""body":"Stopped""#) }
            #expect(end.contains(#""body":"Stopped""#))
            #expect(await service.program.waitUntilEnd(within: patience) && service.program.exitCode == 0)
        }
    }

    /// Reads what comes until it is enough.
    private func read(_ reader: Int32, until isEnough: (String) -> Bool) async throws -> String {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        _ = try await eventually(within: patience) {
            while case let count = Foundation.read(reader, &buffer, buffer.count), count > 0 {
                bytes += buffer[..<count]
            }
            return isEnough(String(decoding: bytes, as: UTF8.self))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: ["2> >(exit 0)", "2> /dev/full", "2> >(sleep 1)"])
    func `A log that cannot be written is counted and holds nothing`(_ redirections: String) async throws {
        try await withService("retrieval", redirections) { service, _ in
            let isCounted = try await eventually {
                try await service.fill(80)
                return try await service.figure("securepush_log_lines_dropped_total") > 0
            }
            #expect(isCounted)
            let before = try await service.figure("process_cpu_seconds_total")
            // Time is what is measured here: a process that spins takes a second of each second.
            try await Task.sleep(for: .seconds(3))
            #expect(try await service.figure("process_cpu_seconds_total") - before < 1)
            service.program.send(SIGTERM)
            #expect(await service.program.waitUntilEnd(within: patience) && service.program.exitCode == 0)
        }
    }

    @Test func `An audit log that nobody reads does not hold the end`() async throws {
        try await withService("retrieval", #"> "$PIPE""#, ["AUDIT_LOG": "-"]) { service, _ in
            // Refusals of tokens have lines. Requests wait for them, and are refused once the log counts as stuck.
            let path = "/api/notifications/01900000-0000-7000-8000-000000000000"
            let isRefused = try await eventually {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<8 {
                        group.addTask { (try? await service.get(path, within: .seconds(1)).status) == 503 }
                    }
                    return await group.contains(true)
                }
            }
            #expect(isRefused)
            let probe = try await service.get("/livez")
            #expect(probe.status == 200)
            service.program.send(SIGTERM)
            let hasEnded = await service.program.waitUntilEnd(within: patience)
            #expect(hasEnded)
        }
    }

    /// Its lines would be lost in silence.
    @Test(arguments: ["retrieval", "ingest", "dispatcher"])
    func `An audit log on a closed descriptor is refused`(_ name: String) async throws {
        try await withLooseFolder { folder in
            let service = try LooseService(name, "1>&-", ["AUDIT_LOG": "-"], folder: folder)
            defer { service.program.send(SIGKILL) }
            #expect(await service.program.waitUntilEnd(within: .seconds(60)) && service.program.exitCode == 78)
            let log = try FileContent(path: folder.appending(path: "\(name).log").path).text
            #expect(log.contains("AUDIT_LOG: is -, but standard output is closed"), "\(log)")
        }
    }

    @Test(arguments: ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-", "1>&- 2>&-"], ["retrieval", "ingest"])
    func `A service without descriptors logs into no file`(_ redirections: String, _ name: String) async throws {
        try await withLooseFolder { folder in
            let audit = folder.appending(path: "audit.log").path
            let service = try LooseService(
                name, redirections, ["AUDIT_LOG": audit, "ACCESS_LOG": "true", "LOG_LEVEL": "trace"], folder: folder)
            defer { service.program.send(SIGKILL) }
            try await service.waitUntilLive()
            let path =
                name == "ingest" ? "/api/notifications" : "/api/notifications/01900000-0000-7000-8000-000000000000"
            for _ in 0..<5 { #expect(try await service.get(path).status == 401) }
            #if os(Linux)
            // Services are not dumpable, so what they have open is seen by root only.
            for descriptor in 0...2 where geteuid() == 0 && redirections.contains("\(descriptor)") {
                let place = "/proc/\(service.program.id)/fd/\(descriptor)"
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "/dev/null")
            }
            #endif
            service.program.send(SIGTERM)
            #expect(await service.program.waitUntilEnd(within: patience) && service.program.exitCode == 0)
            var verifier = AuditVerifier()
            let lines = try FileContent(path: audit).text.split(separator: "\n")
            for line in lines { verifier.check(Array(line.utf8), at: String(line)) }
            #expect(verifier.report.fault == nil && verifier.report.incomplete == 0 && lines.count >= 6)
            let database = try Data(contentsOf: folder.appending(path: "data/securepush.sqlite"))
            #expect(database.starts(with: "SQLite format 3".utf8))
        }
    }
}
