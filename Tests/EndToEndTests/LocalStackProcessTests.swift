import Foundation
import StackKit
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The scripts of the local stack touch only their own processes, and leave none behind.
@Suite("The local stack's processes", .serialized, .timeLimit(.minutes(5)))
struct LocalStackProcessTests {
    /// A file with a process ID outlives its process: after a power cut the number may be anybody's.
    @Test(arguments: ["stop", "kill"])
    func `A number that another process has now is never sent a signal`(_ command: String) async throws {
        try await withFolder { folder in
            let strangers = try (0..<4).map { _ in try stranger(folder) }
            defer { for stranger in strangers { stranger.send(SIGKILL) } }
            let (rabbitmq, postgres) = (folder.appending(path: "rabbitmq"), folder.appending(path: "postgres"))
            try write("23000\n", rabbitmq.appending(path: "port"))
            for (file, stranger) in zip(["pid", "epmd.pid", "server.pid"], strangers) {
                try write("\(stranger.id)\n", rabbitmq.appending(path: file))
            }
            try write("\(strangers[3].id)\n", postgres.appending(path: "data/postmaster.pid"))
            _ = try? await Scripts.ofThisCheckout.run("rabbitmq.sh", [command, rabbitmq.path])
            _ = try? await Scripts.ofThisCheckout.run("postgres.sh", [command, postgres.path])
            await #expect(throws: ProgramFailed.self) {
                try await Scripts.ofThisCheckout.run("postgres.sh", ["status", postgres.path])
            }
            #expect(strangers.allSatisfy { $0.isRunning })
        }
    }

    /// `kill 0` is the caller's own process group, `kill -1` every process of the user.
    @Test(arguments: ["", "0\n1\n", "-1\n1\n", "1\n1\n", "abc\n1\n", "1 2\n3\n"])
    func `A damaged record names no process`(_ text: String) async throws {
        try await withFolder { folder in
            let record = folder.appending(path: "record")
            try write(text, record)
            let processes = Scripts.ofThisCheckout.folder.appending(path: "common.sh").path
            await #expect(throws: ProgramFailed.self) {
                try await run("/bin/bash", ["-c", #". "$0"; recorded_process "$1""#, processes, record.path])
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `A start that is broken off leaves no server`(_ signal: Int32) async throws {
        try await withFolder { folder in
            let node = folder.appending(path: "rabbitmq")
            let port = try freePorts(3)
            let start = try Program(
                URL(filePath: "/bin/bash"),
                [Scripts.ofThisCheckout.folder.appending(path: "rabbitmq.sh").path, "start", node.path, "\(port)"],
                environment: ProcessInfo.processInfo.environment, output: folder.appending(path: "output"),
                folder: folder)
            let record = node.appending(path: "server.pid")
            #expect(try await eventually { FileManager.default.fileExists(atPath: record.path) })
            start.send(signal)
            #expect(await start.waitUntilEnd(within: .seconds(60)))
            let left = try await eventually {
                let processes = try await run("ps", ["-ww", "-eo", "args="])
                return !processes.contains("-home \(node.path)/home ") && !processes.contains(" -port \(port + 2)")
            }
            #expect(left, "a node of \(node.path) is still there, or its epmd")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `A stack that is broken off while its services start leaves none`(_ signal: Int32) async throws {
        try await withFolder { folder in
            let bin = ["SECUREPUSH_BIN": ProcessUnderTest.executables.path]
            let start = try Program(
                URL(filePath: "/bin/bash"),
                [Scripts.ofThisCheckout.folder.appending(path: "stack.sh").path, "up", folder.path],
                environment: ProcessInfo.processInfo.environment.merging(bin) { $1 },
                output: folder.appending(path: "output"), folder: folder)
            let record = folder.appending(path: "run/ingest.pid")
            #expect(try await eventually { FileManager.default.fileExists(atPath: record.path) })
            let processes = Scripts.ofThisCheckout.folder.appending(path: "common.sh").path
            // Before a signal, so that the record is complete.
            let ingest = try await run(
                "/bin/bash",
                ["-c", #". "$0"; until recorded_process "$1"; do sleep 0.1; done"#, processes, record.path])
            start.send(signal)
            #expect(await start.waitUntilEnd(within: patience))
            #expect(start.exitCode == 128 + signal)
            let isGone = try await eventually {
                let all = try await run("ps", ["-ww", "-eo", "pid=,args="])
                let lines = all.split(separator: "\n").map { $0.drop { $0 == " " } }
                return !all.contains("-home \(folder.path)/rabbitmq/home ")
                    && !lines.contains { $0.hasPrefix(ingest.dropLast() + " ") }
            }
            #expect(isGone, "services or the broker of \(folder.path) are still there")
        }
    }

    @Test func `Stopping nothing says so`() async throws {
        try await withFolder { folder in
            let said = try await Scripts.ofThisCheckout.run("stack.sh", ["down", folder.path])
            #expect(said.contains("No process of a stack is on record"))
        }
    }

    @Test func `A stack takes no settings from its caller`() async throws {
        try await withFolder { folder in
            let script = """
                . "$0/common.sh"; . "$0/services.sh"
                export AUDIT_LOG=/a AUTH_USERS_FILE=/b SECUREPUSH_INGEST_URL=c ALL_PROXY=d OTEL_X=e SSL_CERT_FILE=f \
                    STORE=sqlite STACK_AUDIT_LOG=/g
                stack_use "$1" STORE
                env
                bin=/usr/bin; (with_only_settings HTTP_PORT=1 env)
                """
            let lines = Set(
                try await run("/bin/bash", ["-c", script, scripts, folder.path])
                    .utf8.split(separator: UInt8(ascii: "\n")).compactMap { String($0) })
            let foreign = ["AUDIT_LOG=/a", "AUTH_USERS_FILE=/b", "SECUREPUSH_INGEST_URL=c", "ALL_PROXY=d", "OTEL_X=e"]
            #expect(lines.isDisjoint(with: foreign + ["SSL_CERT_FILE=f"]))
            #expect(lines.isSuperset(of: ["STORE=sqlite", "HTTP_PORT=1", "AUDIT_LOG=/g"]))
        }
    }

    /// Those that name a place stay behind, since they may be another installation's.
    @Test func `The caller's settings reach the services`() async throws {
        try await withFolder { folder in
            let script = """
                set -euo pipefail
                . "$0/common.sh"; . "$0/services.sh"
                export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 SECUREPUSH_RETENTION='1d' AUDIT_LOG=/a \
                    DATABASE_URL=sqlite:b HTTPS_PROXY=http://127.0.0.1:9 EMULATOR_LATENCY=1s
                stack_take_settings "$1"; stack_use "$1" STORE
                bin=/usr/bin; (with_only_settings HTTP_PORT=1 env)
                given_settings >"$run/settings"
                echo "none: $(missing_settings)"
                STACK_RETENTION=2d
                export STACK_LOG_LEVEL=debug
                echo "missing: $(missing_settings)"
                """
            let said = try await run(
                "env",
                [
                    "SECUREPUSH_BIN=\(ProcessUnderTest.executables.path)", "/bin/bash", "-c", script, scripts,
                    folder.path,
                ])
            let lines = said.split(separator: "\n").map(String.init)
            #expect(
                Set(lines).isSuperset(of: [
                    "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "RETENTION=1d", "EMULATOR_LATENCY=1s",
                    "none: ", "missing: LOG_LEVEL RETENTION",
                ]))
            #expect(!lines.contains { ["AUDIT_LOG=", "DATABASE_URL=", "HTTPS_PROXY="].contains(where: $0.hasPrefix) })
            #expect(lines.contains { $0.hasPrefix("Not taken") && $0.contains(": AUDIT_LOG DATABASE_URL.") }, "\(said)")
        }
    }

    @Test func `A file has what the commands need to use the stack`() async throws {
        try await withFolder { folder in
            let script = """
                set -euo pipefail
                . "$0/common.sh"; . "$0/services.sh"
                stack_use "$1/a b"
                mkdir -p "$secrets"; echo KEY >"$secrets/ingest-api-key"
                ingest_port=1 retrieval_port=2 dispatcher_port=3 hub_port=4
                amqp_url=amqp://guest:guest@127.0.0.1:5/%2F database_url="sqlite:$stack/securepush.sqlite"
                write_environment
                . "$stack/env"; . "$stack/env"
                ls -l "$stack/env"; env; ! grep -w KEY "$stack/env"
                """
            let said = try await run(
                "env", ["SECUREPUSH_BIN=/usr/share", "/bin/bash", "-c", script, scripts, folder.path])
            let lines = Set(said.split(separator: "\n").map(String.init))
            #expect(said.hasPrefix("-rw-------"))
            #expect(
                lines.isSuperset(of: [
                    "INGEST_URL=http://127.0.0.1:1", "INGEST_API_KEY=KEY", "DISPATCHER_URL=http://127.0.0.1:3",
                    "AMQP_URL=amqp://guest:guest@127.0.0.1:5/%2F", "HUB_NAME=securepush",
                ]))
            #expect(lines.contains { $0.hasPrefix("DATABASE_URL=sqlite:/") && $0.hasSuffix("/a b/securepush.sqlite") })
            #expect(lines.contains { $0.hasPrefix("PATH=/usr/share:") && !$0.hasPrefix("PATH=/usr/share:/usr/share:") })
        }
    }

    private var scripts: String { Scripts.ofThisCheckout.folder.path }

    /// Without a place, `find` searches the folder that it stands in, and finds the secret with the devices.
    @Test func `The search of the demo needs a place`() async throws {
        let script = #"cd "$1" && . "$0/demo-steps.sh" && count_holding secret && count_holding secret ."#
        try await withFolder { folder in
            try write("secret", folder.appending(path: "run/device.out"))
            let said = try await run("/bin/bash", ["-c", script, Scripts.ofThisCheckout.folder.path, folder.path])
            #expect(said == "0 of 0\n1 of 1\n")
        }
    }

    @Test(arguments: [
        "PGSSLMODE=require", "PGSERVICE=prod", "PGHOSTADDR=127.0.0.9",
        "PGOPTIONS=-c default_transaction_read_only=on",
    ])
    func `Settings of another PostgreSQL change nothing`(_ setting: String) async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "postgres").path
            let script = Scripts.ofThisCheckout.folder.appending(path: "postgres.sh").path
            try await run("env", [setting, "/bin/bash", script, "start", data, String(try freePorts(1))])
            try await run("/bin/bash", [script, "status", data])
            try await run("/bin/bash", [script, "stop", data])
        }
    }

    private func stranger(_ folder: URL) throws -> Program {
        try Program(
            URL(filePath: "/bin/sleep"), ["600"], environment: [:], output: folder.appending(path: "stranger"),
            folder: folder)
    }

    private func write(_ text: String, _ file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-scripts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }
}
