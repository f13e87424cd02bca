import Domain
import Foundation
import Foundations
import Testing

@testable import SecurePushCLI

/// The commands about notifications, as processes against the real services.
@Suite(.timeLimit(.minutes(3))) struct NotificationCommandTests {
    @Test func `Send, status, list, inbox, revoke`() async throws {
        try await LocalServices.with { services in
            let sent = try await services.run("send", "--to", "alice", "--to", "bob", "--payload", "hello")
            #expect(sent.code == 0, "\(sent.errors)")
            let ids = sent.lines
            try #require(ids.count == 2)

            let status = try await services.run("status", ids[0])
            #expect(status.code == 0 && status.output.contains("accepted") && status.output.contains("PLATFORM"))
            #expect(!status.output.contains("\u{1B}"))
            let statusJSON = try await services.run("status", ids[0], "--json")
            #expect(statusJSON.lines.count == 1)
            #expect(JSONValue(text: statusJSON.output)?["Status"]?.text == "accepted")

            let list = try await services.run("list", "--recipient", "bob")
            #expect(list.lines.count == 2 && list.lines[1].hasPrefix(ids[1]) && list.lines[1].hasSuffix("bob"))
            let all = try await services.run("list", "--all", "--limit", "1", "--json")
            #expect(all.code == 0 && all.lines.count == 2)
            // Those of one request are of the same millisecond, and in any order.
            let (first, second) = (min(ids[0], ids[1]), max(ids[0], ids[1]))
            let before = try await services.run("list", "--before", second, "--status", "accepted")
            #expect(before.lines.count == 2 && before.output.contains(first), "\(before.output) \(ids)")
            let none = try await services.run("list", "--status", "failed")
            #expect(none.code == 0 && none.output.isEmpty)

            let password = services.setup.passwordFile(of: "alice")
            let inbox = try await services.run("inbox", "--user", "alice", "--password-file", password, "--unread")
            #expect(inbox.code == 0 && inbox.output.contains(ids[0]) && inbox.errors.contains("1 unread"))
            let after = try await services.run(
                "inbox", "--user", "alice", "--password-file", password, "--after", ids[0], "--json")
            #expect(JSONValue(text: after.output)?["Notifications"]?.elements == [])

            try await marks(services, password, ids[0])

            let revoked = try await services.run("revoke", ids[0], ids[1])
            #expect(revoked.code == 0 && revoked.lines == ids.map { "revoked \($0)" })
            let again = try await services.run("revoke", ids[0], "--json")
            #expect(again.code == 0 && again.lines == [#"{"Id":"\#(ids[0])","Status":"revoked"}"#])
            let gone = try await services.run("status", ids[0])
            #expect(gone.code == 0 && gone.output.contains("revoked"))
        }
    }

    /// Marks the notification of alice with and without a fetch.
    private func marks(_ services: LocalServices, _ password: String, _ id: String) async throws {
        let marked = try await inbox(services, password, ["--mark-read"])
        #expect(marked.code == 0 && marked.output.contains(id) && marked.errors.contains("1 marked as read"))
        let again = try await inbox(services, password, ["--mark-read", "--unread"])
        #expect(again.code == 0 && again.output.isEmpty && !again.errors.contains("marked"))
        let status = try await services.run("status", id)
        #expect(status.output.contains("read"))
        let payloads = try await inbox(services, password, ["--payloads"])
        #expect(payloads.code == 0 && payloads.output.contains("PAYLOAD") && payloads.output.contains("hello"))
        let both = try await inbox(services, password, ["--payloads", "--mark-read"])
        #expect(both.code == 64)
    }

    private func inbox(
        _ services: LocalServices, _ password: String, _ flags: [String]
    ) async throws -> CommandLineRun {
        let arguments = ["inbox", "--user", "alice", "--password-file", password] + flags
        return try await CommandLineRun(arguments, services.environment, in: services.folder)
    }

    @Test func `A service that goes away does not hide the refusals before that`() async throws {
        let answer = { @Sendable (_: String, number: Int) in
            ScriptedServer.Answer(status: number == 0 ? 404 : 503)
        }
        try await ScriptedServer.with(answer) { server in
            let ids = [NotificationID().description, NotificationID().description, NotificationID().description]
            let run = try await CommandLineRun(
                ["revoke"] + ids, ["INGEST_URL": server.url, "INGEST_API_KEY": "k"])
            #expect(run.code == 69 && server.requests.count == 2)
            #expect(run.errors.contains("\(ids[0]): ingest answered 404"), "\(run.errors)")
            #expect(run.errors.contains("ingest answered 503") && !run.errors.contains(ids[2]))
        }
    }

    @Test func `Refusals exit with 1 and say why`() async throws {
        try await LocalServices.with { services in
            let unknown = NotificationID().description
            let status = try await services.run("status", unknown)
            #expect(status.code == 1 && status.errors.contains("404"))
            let sent = try await services.run("send", "--to", "alice", "--payload", "x")
            let id = try #require(sent.lines.first)
            // The one that is not there does not keep the others from being revoked.
            let revoke = try await services.run("revoke", unknown, id, "--json")
            #expect(revoke.code == 1 && revoke.output.contains(id))
            #expect(revoke.errors.contains(unknown) && revoke.errors.contains("404"))
            for arguments in [["status", id], ["list"], ["revoke", id], ["resend", id]] {
                let refused = try await CommandLineRun(
                    arguments, services.environment.merging(["INGEST_API_KEY": "wrong"]) { $1 }, in: services.folder)
                #expect(refused.code == 1 && refused.errors.contains("401"), "\(arguments)")
                #expect(refused.errors.contains("INGEST_API_KEY"))
            }
            // The first is not there, and of the second nothing has failed: it is revoked.
            let resend = try await services.run("resend", unknown, id)
            #expect(resend.code == 1 && resend.errors.contains("404") && resend.errors.contains("409"))
            let none = try await services.run("resend", "--failed", "--since", "2h")
            #expect(none.code == 0 && none.output.isEmpty)
            for arguments in [["resend"], ["resend", id, "--failed", "--since", "2h"], ["resend", "--failed"]] {
                #expect(try await CommandLineRun(arguments, services.environment, in: services.folder).code == 64)
            }
            let inbox = try await services.run("inbox", "--user", "alice", with: ["RETRIEVAL_TOKEN": "x.y.z"])
            #expect(inbox.code == 1 && inbox.errors.contains("401"))
        }
    }
}
