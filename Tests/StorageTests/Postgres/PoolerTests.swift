import Domain
import Foundation
import Logging
import Postgres
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import Storage

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

private let pgbouncer = "/usr/sbin/pgbouncer"

/// Behind the real PgBouncer, with the settings of its package.
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: pgbouncer), "PgBouncer is installed"),
    .timeLimit(.minutes(5)))
struct PoolerTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs PgBouncer in front of a server of its own; the body gets the URL of the database behind it.
    private func withPooler(_ mode: String, _ body: (String) async throws -> Void) async throws {
        try await withPostgresServer { server in
            let port = try freePorts(1)
            let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-pool-\(port)")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            defer { try? FileManager.default.removeItem(at: folder) }
            let users = folder.appending(path: "users.txt")
            try Data("\"securepush\" \"\"\n".utf8).write(to: users)
            let settings = folder.appending(path: "pgbouncer.ini")
            let text = """
                [databases]
                securepush = host=127.0.0.1 port=\(server.port) dbname=securepush
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = \(port)
                auth_type = trust
                auth_file = \(users.path)
                pool_mode = \(mode)
                unix_socket_dir =
                """
            try Data(text.utf8).write(to: settings)
            // It refuses to run as root.
            let user = geteuid() == 0 ? ["-u", "nobody"] : []
            let pooler = try Program(
                URL(filePath: pgbouncer), user + [settings.path], environment: ["PATH": "/usr/bin:/bin"],
                output: folder.appending(path: "log"), folder: folder)
            defer { pooler.send(SIGKILL) }
            try await body("postgres://securepush@127.0.0.1:\(port)/securepush")
        }
    }

    @Test func `In session mode a store works, with options in its URL`() async throws {
        try await withPooler("session") { url in
            for _ in 0..<3 {
                // Each has sessions that an earlier one used.
                try await withRunningStore(url + "?options=-c%20search_path%3Dpublic%20-c%20work_mem%3D7MB") { test in
                    let store = try #require(test.store as? PostgresStore)
                    let show = PostgresStatement("SELECT current_setting('search_path') || current_setting('work_mem')")
                    let row = try await store.query(show, PostgresParameters()).first
                    #expect(try row?.decode(0, as: String.self) == "public7MB")
                    let sample = SealedNotification.sample()
                    try await store.append([sample])
                    #expect(try await store.find(sample.id, recipient: .alice) != nil)
                    #expect(await test.readiness() == nil)
                }
            }
        }
    }

    @Test func `Transaction mode is refused by name`() async throws {
        try await withPooler("transaction") { url in
            let opened = try await openStore(StorageConfiguration(url: url), logger: quiet)
            let error = await #expect(throws: StorageError.self) { try await opened.service.run() }
            #expect(error?.code == .invalid && error?.message.contains("transaction or statement mode") == true)
            #expect(error?.message.contains("pool_mode") == true)
        }
    }
}
