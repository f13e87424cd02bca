import Domain
import Foundation
import TestSupport
import Testing

@testable import SecurePushCLI

/// Output that cannot be written is never a success.
@Suite(.timeLimit(.minutes(3))) struct LostOutputTests {
    /// Runs a shell command; `securepush` is the program.
    private static func shell(_ script: String, in folder: String) async throws -> (code: Int32, errors: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = URL(filePath: folder)
        let path = ProcessUnderTest.executables.path
        process.environment = ["PATH": "\(path):/usr/bin:/bin"]
        let errors = URL(filePath: folder + "/errors")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in done.resume() }
            do { try process.run() } catch { done.resume(throwing: error) }
        }
        return (process.terminationStatus, try String(contentsOf: errors, encoding: .utf8))
    }

    private static let commands = [
        "securepush version", "securepush --help", "securepush users list --users-file users",
        "securepush config show --json", "securepush setup broker-users", "securepush --version",
        "securepush --generate-completion-script bash", "securepush doctor",
    ]

    @Test(arguments: commands)
    func `A full disk is exit code 1 and one line`(command: String) async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.shell(
                "echo 'password of alice' | securepush users add alice --users-file users", in: folder)
            let prefix = command.hasSuffix("doctor") ? "AUTH_USERS_FILE=users " : ""
            let run = try await Self.shell(prefix + command + " > /dev/full", in: folder)
            #expect(run.code == 1, "\(run.errors)")
            #expect(run.errors.contains("Standard output cannot be written: no space left on device."), "\(run.errors)")
        }
    }

    @Test(arguments: ["> /dev/full", ">&-", "| true", "< users > users-readonly 1< users"])
    func `A key that nobody could see is not stored`(redirection: String) async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(filePath: folder + "/users"))
            let pipe =
                redirection == "| true" ? "(sleep 1; securepush api-keys add x --api-keys-file keys) | true" : nil
            let script = pipe ?? "securepush api-keys add x --api-keys-file keys \(redirection)"
            let run = try await Self.shell("set -o pipefail; " + script, in: folder)
            #expect(run.code == 1, "\(run.errors)")
            #expect(!SecretFile.exists(folder + "/keys"))
            #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
        }
    }

    @Test(arguments: ["users remove alice --users-file users", "keys generate --payload-keys-file ring", "--help"])
    func `With a closed standard output nothing is changed`(command: String) async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.shell(
                "echo 'password of alice' | securepush users add alice --users-file users", in: folder)
            let run = try await Self.shell("securepush \(command) >&-", in: folder)
            #expect(
                run.code == 1 && run.errors.contains("Standard output is closed. Nothing was done."), "\(run.errors)")
            #expect(try String(contentsOfFile: folder + "/users", encoding: .utf8).hasPrefix("alice "))
            #expect(!SecretFile.exists(folder + "/ring"))
        }
    }

    @Test(arguments: [
        // A key that was seen is stored, and a reader that has enough is no failure.
        ("securepush api-keys add x --api-keys-file keys > key && grep -q ^x keys && test -s key", 0, ""),
        ("set -o pipefail; securepush config show | head -1", 0, ""),
        // Other closed descriptors do no harm, unless the audit log goes there.
        ("securepush keys generate --payload-keys-file ring 0<&- && test $(wc -l < ring) = 1", 0, ""),
        ("securepush keys generate --payload-keys-file ring 2>&- && test $(wc -l < ring) = 1", 0, ""),
        ("securepush keys generate --payload-keys-file ring 0<&- 2>&- && test $(wc -l < ring) = 1", 0, ""),
        ("AUDIT_LOG=- securepush keys generate --payload-keys-file ring 2>&-; test $? = 78 && test ! -e ring", 0, ""),
        // A file that may not grow is no signal.
        ("ulimit -f 1; securepush config show --json > out", 1, "file too large"),
    ])
    func `A command ends as its output does`(script: String, code: Int32, words: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await Self.shell(script, in: folder)
            #expect(run.code == code && (words.isEmpty || run.errors.contains(words)), "\(run.code): \(run.errors)")
            if script.contains("| head") { #expect(run.errors.isEmpty, "\(run.errors)") }
        }
    }

    /// The request marks as read.
    @Test(arguments: ["exec 3> >(exit 0); wait $!; % >&3", "ulimit -f 1; % > out", "ulimit -f 1; % >> out"])
    func `A notification that nobody could see is not asked for`(script: String) async throws {
        try await withTemporaryFolder { folder in
            try Data("token".utf8).write(to: URL(filePath: folder + "/token"))
            try await ScriptedServer.with({ _, _ in .init(body: #"{"Payload":"x"}"#) }) { server in
                let command = "securepush read \(NotificationID()) --token-file token --retrieval-url \(server.url)"
                let run = try await Self.shell(script.replacing("%", with: command), in: folder)
                #expect(run.code == 1 && run.errors.contains("Standard output cannot be written"), "\(run.errors)")
                #expect(server.requests.isEmpty)
            }
        }
    }

    /// The pipe is full at once, and its reader starts late.
    @Test func `A slow reader of a non-blocking pipe gets everything`() async throws {
        try await withTemporaryFolder { folder in
            let names = (0..<20_000).map { "# \($0) a comment that fills the pipe" }
            try Data((names.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder + "/x"))
            let script = """
                python3 -c '
                import os, subprocess, time
                r, w = os.pipe()
                os.set_blocking(w, False)
                loop = "for i in $(seq 40); do securepush config show --json || exit 9; done"
                p = subprocess.Popen(loop, shell=True, stdout=w)
                os.close(w)
                time.sleep(1)
                n = 0
                while True:
                    b = os.read(r, 4096)
                    if not b: break
                    n += b.count(b"\\n")
                    time.sleep(0.001)
                assert p.wait() == 0, p.returncode
                assert n % 40 == 0 and n >= 40 * 60, n
                '
                """
            let run = try await Self.shell(script, in: folder)
            #expect(run.code == 0, "\(run.errors)")
        }
    }
}
