import Domain
import Foundation
import Foundations
import Testing

@testable import SecurePushCLI

/// `send` and `read` as processes against the real services.
@Suite(.timeLimit(.minutes(3))) struct SendCommandTests {
    @Test func `Recipients of a file and of flags get one notification each`() async throws {
        try await LocalServices.with { services in
            let names = (1...2100).map { "customer\($0)" }
            let file = "\(services.folder)/names"
            try (["# customers"] + names + ["customer1", ""]).joined(separator: "\n")
                .write(toFile: file, atomically: true, encoding: .utf8)
            let run = try await services.run(
                "send", "--to", "alice", "--to", "alice", "--to-file", file, "--payload", "hello",
                "--idempotency-key", "news-1")
            #expect(run.code == 0 && Set(run.lines).count == 2101, "\(run.errors)")
            #expect(run.errors.contains("2 repeated recipients were left out"))
            #expect(run.errors.contains("2,101 recipients in 3 requests"))
            // The same again sends nothing, and another payload is refused.
            let again = try await services.run(
                "send", "--to", "alice", "--to", "alice", "--to-file", file, "--payload", "hello",
                "--idempotency-key", "news-1")
            #expect(again.code == 0 && again.lines == run.lines, "\(again.errors)")
            let other = try await services.run(
                "send", "--to", "alice", "--to-file", file, "--payload", "other", "--idempotency-key", "news-1")
            #expect(other.code == 1 && other.errors.contains("422") && other.output.isEmpty, "\(other.errors)")
            #expect(other.errors.contains("Sent to 0 of 2,101 recipients"))
        }
    }

    /// The wanted status, the last one, the timeout, and the exit code with a word of the message.
    static let waits: [(wanted: String, last: String, timeout: String, code: Int32, word: String)] = [
        ("dispatched", "dispatched", "60s", 0, "dispatched after"), ("dispatched", "failed", "60s", 1, ": failed"),
        ("read", "dispatched", "1s", 1, ": still "),
    ]

    @Test(arguments: waits)
    func `It waits until the status is as wanted, or cannot become so`(
        _ row: (wanted: String, last: String, timeout: String, code: Int32, word: String)
    ) async throws {
        let id = NotificationID().description
        let last = row.last
        let answer = { @Sendable (request: String, number: Int) -> ScriptedServer.Answer in
            if request.hasPrefix("POST") { return .init(status: 201, body: #"{"Id":"\#(id)"}"#) }
            let status = number < 3 ? "queued" : last
            return .init(
                body: #"{"Id":"\#(id)","Status":"\#(status)","CreatedAt":"2026-11-21T08:30:00.000Z","Deliveries":[]}"#)
        }
        try await ScriptedServer.with(answer) { server in
            let run = try await CommandLineRun(
                ["send", "--to", "alice", "--payload", "x", "--wait", row.wanted, "--wait-timeout", row.timeout],
                ["INGEST_URL": server.url, "INGEST_API_KEY": "k"])
            #expect(run.code == row.code && run.lines == [id], "\(run.errors)")
            #expect(run.errors.contains(row.word), "\(run.errors)")
        }
    }

    @Test func `One name that is given twice gets one notification`() async throws {
        try await LocalServices.with { services in
            let run = try await services.run("send", "--to", "alice", "--to", "alice", "--payload", "x")
            #expect(run.code == 0 && run.lines.count == 1 && run.errors.contains("1 repeated recipient was left out"))
            let missing = try await services.run("send", "--to-file", "/nowhere", "--payload", "x")
            #expect(missing.code == 78 && missing.errors.contains("--to-file"), "\(missing.errors)")
            try "# nobody\n".write(toFile: "\(services.folder)/none", atomically: true, encoding: .utf8)
            let none = try await services.run("send", "--to-file", "none", "--payload", "x")
            #expect(none.code == 64 && none.errors.contains("no name"), "\(none.errors)")
        }
    }

    @Test func `A notification with --not-before is not there yet`() async throws {
        try await LocalServices.with { services in
            let run = try await services.run("send", "--to", "alice", "--payload", "x", "--not-before", "1h")
            let id = try #require(run.lines.first, "\(run.errors)")
            let password = services.setup.passwordFile(of: "alice")
            let read = try await services.run("read", id, "--user", "alice", "--password-file", password)
            #expect(
                read.code == 1 && read.errors.contains("404") && read.errors.contains("NotBefore"), "\(read.errors)")
        }
    }

    @Test func `Read prints the payload byte for byte`() async throws {
        try await LocalServices.with { services in
            let password = services.setup.passwordFile(of: "alice")
            for (payload, flags) in [
                ("two\nlines\r\n\tand caf\u{E9} cafe\u{301} \u{1B}[31m", []), ("", []), ("no line end", []),
                (#"{ "b":1.50, "a":[true, 1e400] }"#, ["--json-payload"]), ("null", ["--json-payload"]),
            ] as [(String, [String])] {
                let sent = try await CommandLineRun(
                    ["send", "--to", "alice", "--payload", payload] + flags, services.environment, in: services.folder)
                let id = try #require(sent.lines.first, "\(sent.errors)")
                let read = try await services.run("read", id, "--user", "alice", "--password-file", password)
                #expect(read.code == 0 && Array(read.output.utf8) == Array(payload.utf8), "\(read.errors)")
                #expect(read.errors.isEmpty)
                let again = try await services.run("read", id, "--user", "alice", "--password-file", password)
                #expect(again.output == read.output)
                #expect(again.errors == "note: this notification had been read before.\n")
                let json = try await services.run(
                    "read", id, "--user", "alice", "--password-file", password, "--json")
                #expect(json.lines.count == 1 && JSONValue(text: json.output)?["Id"]?.text == id)
            }
        }
    }

    @Test func `Read takes a token alone, and says why it gets nothing`() async throws {
        try await LocalServices.with { services in
            let sent = try await services.run("send", "--to", "alice", "--payload", "x")
            let id = try #require(sent.lines.first)
            let token = try await services.run(
                "token", "--user", "alice", "--signing-key-file", services.setup.signingKey)
            try SecretFile.create("\(services.folder)/token", token.lines.first ?? "")
            #expect(try await services.run("read", id, "--token-file", "token").output == "x")
            let stranger = try await services.run(
                "read", id, "--user", "bob", "--password-file", services.setup.passwordFile(of: "bob"))
            #expect(stranger.code == 1 && stranger.output.isEmpty && stranger.errors.contains("404"))
            _ = try await services.run("revoke", id)
            let gone = try await services.run("read", id, "--token-file", "token")
            #expect(gone.code == 1 && gone.errors.contains("410") && gone.errors.contains("revoked"), "\(gone.errors)")
            let refused = try await services.run("read", id, with: ["RETRIEVAL_TOKEN": "x.y.z"])
            #expect(refused.code == 1 && refused.errors.contains("401") && refused.output.isEmpty)
            #expect(try await services.run("read", id).code == 78)
            #expect(try await services.run("read", id, "--password-file", "x").code == 64)
            let other = try await services.run("read", id, "--user", "bob", "--token-file", "token")
            #expect(other.code == 64 && other.errors.contains("alice"), "\(other.errors)")
        }
    }

    @Test func `Empty lists say so, and JSON stays JSON`() async throws {
        try await LocalServices.with { services in
            let list = try await services.run("list", "--status", "failed", "--recipient", "alice")
            #expect(list.code == 0 && list.output.isEmpty && list.errors.contains("No notifications match."))
            #expect(list.errors.contains("--recipient or --status"))
            let json = try await services.run("list", "--json")
            #expect(JSONValue(text: json.output)?["Notifications"]?.elements == [] && json.errors.isEmpty)
            let password = services.setup.passwordFile(of: "alice")
            let inbox = try await services.run("inbox", "--user", "alice", "--password-file", password, "--unread")
            #expect(
                inbox.code == 0 && inbox.errors.contains("No notifications match. To see more, leave out --unread."))
            let devices = try await services.run(
                "installations", "list", with: ["DATABASE_URL": "sqlite:\(services.folder)/data.sqlite"])
            #expect(devices.code == 0 && devices.output.isEmpty && devices.errors.contains("No devices match."))
            try SecretFile.create("\(services.folder)/no-users", "# none")
            let users = try await services.run("users", "list", "--users-file", "no-users")
            #expect(users.output.isEmpty && users.errors.contains("no users"), "\(users.errors)")
        }
    }

    @Test func `On a terminal a list fits, and --wide makes it whole`() async throws {
        try await LocalServices.with { services in
            _ = try await services.run("send", "--to", "alice@long.example.com", "--payload", "x")
            let narrow = try await TerminalRun(["list"], services.environment, in: services.folder, columns: 80)
            #expect(narrow.code == 0 && narrow.lines.count == 2 && narrow.lines.allSatisfy { $0.count <= 80 })
            #expect(narrow.screen.contains(/now|ago/) && !narrow.screen.contains("EXPIRES"), "\(narrow.screen)")
            let wide = try await TerminalRun(["list", "--wide"], services.environment, in: services.folder)
            #expect(wide.screen.contains("EXPIRES") && wide.lines.contains { $0.count > 80 })
            let piped = try await services.run("list")
            #expect(piped.lines.contains { $0.count > 80 } && piped.output.contains("EXPIRES"))
        }
    }
}
