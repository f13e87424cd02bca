import Foundation
import StackKit
import TestSupport
import Testing

@testable import SecurePushCLI

/// The commands that make users, senders, tokens and the schema, and those that watch, as processes.
@Suite(.timeLimit(.minutes(3))) struct LocalCommandTests {
    @Test func `Users are added, listed, given a new password, and removed`() async throws {
        try await withTemporaryFolder { folder in
            let (file, password) = ("\(folder)/users", "\(folder)/password")
            try SecretFile.create(password, "correct horse")
            func users(_ arguments: String...) async throws -> CommandLineRun {
                try await CommandLineRun(["users"] + arguments, ["AUTH_USERS_FILE": file], in: folder)
            }
            let added = try await users("add", "carol", "--password-file", password)
            #expect(added.code == 0 && added.output.contains("added carol"), "\(added.errors)")
            let hash = try SecretFile.read(file)
            #expect(hash.hasPrefix("carol ") && !hash.contains("correct horse"))
            #expect(try await users("list").lines == ["carol"])
            let again = try await users("add", "carol", "--password-file", password)
            #expect(again.code != 0, "\(again.output)")
            let replaced = try await users("add", "carol", "--replace", "--password-file", password)
            #expect(replaced.code == 0 && replaced.output.hasPrefix("replaced the password of carol"))
            let nowhere = try await CommandLineRun(["users", "list"], in: folder)
            #expect(nowhere.code == 78 && nowhere.errors.contains("No users file is given"), "\(nowhere.errors)")
            #expect(try SecretFile.read(file) != hash)
            #expect(try await users("remove", "carol").code == 0)
            #expect(try await users("list").lines == [])
        }
    }

    @Test func `A user who can never log in is refused, a name that looks like another is warned of`() async throws {
        try await withTemporaryFolder { folder in
            let (file, password) = ("\(folder)/users", "\(folder)/password")
            try SecretFile.create(password, "correct horse")
            func add(_ name: String) async throws -> CommandLineRun {
                try await CommandLineRun(
                    ["users", "add", name, "--password-file", password], ["AUTH_USERS_FILE": file], in: folder)
            }
            for name in ["tenant:carol", ":", "a\tb", "", String(repeating: "x", count: 1025)] {
                #expect(try await add(name).code == 64, "\(name)")
            }
            #expect(!SecretFile.exists(file))
            let first = try await add("cafe\u{301}")
            #expect(first.code == 0 && first.errors.isEmpty, "\(first.errors)")
            for name in ["caf\u{E9}", "CAFE\u{301}"] {
                let other = try await add(name)
                #expect(other.code == 0 && other.errors.contains("warning: "), "\(other.errors)")
                #expect(other.errors.contains("looks like the user"))
            }
        }
    }

    @Test func `A sender's key is shown once, opens ingest, and no longer when it is removed`() async throws {
        try await LocalServices.with { services in
            let file = ["INGEST_API_KEYS_FILE": services.setup.apiKeys]
            let added = try await services.run("api-keys", "add", "billing", with: file)
            let key = try #require(added.lines.first, "\(added.errors)")
            #expect(added.code == 0 && added.lines.count == 1)
            #expect(try !SecretFile.read(services.setup.apiKeys).contains(key))
            #expect(try await services.run("api-keys", "list", with: file).lines == ["demo", "billing"])
            // The services read the file again after a moment.
            let isKnown = try await eventually {
                try await services.run("list", with: ["INGEST_API_KEY": key]).code == 0
            }
            #expect(isKnown)
            #expect(try await services.run("api-keys", "remove", "billing", with: file).code == 0)
            let isRefused = try await eventually {
                try await services.run("list", with: ["INGEST_API_KEY": key]).errors.contains("401")
            }
            #expect(isRefused)
        }
    }

    @Test func `A token comes from retrieval, or is signed here, and opens the inbox`() async throws {
        try await LocalServices.with { services in
            let password = services.setup.passwordFile(of: "alice")
            let asked = try await services.run("token", "--user", "alice", "--password-file", password)
            let signed = try await services.run(
                "token", "--user", "alice", "--signing-key-file", services.setup.signingKey)
            for run in [asked, signed] {
                #expect(run.code == 0 && run.lines.count == 1, "\(run.errors)")
                let inbox = try await services.run(
                    "inbox", "--user", "alice", with: ["RETRIEVAL_TOKEN": run.lines.first ?? ""])
                #expect(inbox.code == 0, "\(inbox.errors)")
            }
            let old = try await services.run(
                "token", "--user", "alice", "--signing-key-file", services.setup.signingKey, "--expires-at",
                "2020-01-01T00:00:00Z")
            let refused = try await services.run(
                "inbox", "--user", "alice", with: ["RETRIEVAL_TOKEN": old.lines.first ?? ""])
            #expect(old.code == 0 && refused.code == 1 && refused.errors.contains("401"))
        }
    }

    @Test func `A refresh token in a file replaces the password, and is replaced with each use`() async throws {
        try await LocalServices.with { services in
            let file = "\(services.folder)/alice.refresh"
            let password = services.setup.passwordFile(of: "alice")
            let logIn = try await services.run(
                "token", "--user", "alice", "--password-file", password, "--refresh-token-file", file)
            #expect(logIn.code == 0 && logIn.lines.count == 1, "\(logIn.errors)")
            let first = try SecretFile.read(file)
            #expect(SecretFile.mode(file) == 0o600 && !logIn.output.contains(first))
            let refreshed = try await services.run("token", "--user", "alice", "--refresh-token-file", file, "--json")
            #expect(refreshed.code == 0, "\(refreshed.errors)")
            let second = try SecretFile.read(file)
            #expect(second != first && !refreshed.output.contains(second) && SecretFile.mode(file) == 0o600)
            // A token that was used before ends its family, unless its successor was never used.
            let again = try await services.run("token", "--user", "alice", "--refresh-token-file", file)
            #expect(again.code == 0, "\(again.errors)")
            _ = try SecretFile.replace(file, first, mode: 0o600)
            let reused = try await services.run("token", "--user", "alice", "--refresh-token-file", file)
            #expect(reused.code == 1 && reused.errors.contains("401") && reused.errors.contains("log in"))
        }
    }

    @Test func `A migration is applied once`() async throws {
        try await withTemporaryFolder { folder in
            let environment = ["DATABASE_URL": "sqlite:\(folder)/data.sqlite"]
            let first = try await CommandLineRun(["migrate", "--create"], environment, in: folder)
            #expect(first.code == 0 && first.output.contains("applied "), "\(first.errors)")
            #expect(first.lines.first == "created \(folder)/data.sqlite")
            let second = try await CommandLineRun(["migrate", "--json"], environment, in: folder)
            #expect(second.code == 0 && JSONCoding.member("Applied", of: second.output) == "[]")
            // The URL may come from a file.
            try SecretFile.create("\(folder)/url", "sqlite:\(folder)/other.sqlite")
            let third = try await CommandLineRun(
                ["migrate", "--create"], ["DATABASE_URL_FILE": "\(folder)/url"], in: folder)
            #expect(third.code == 0 && SecretFile.exists("\(folder)/other.sqlite"), "\(third.errors)")
        }
    }

    @Test(arguments: ["none.sqlite", "none/none.sqlite"])
    func `A migration of a mistyped path makes nothing, and --create makes all of it`(path: String) async throws {
        try await withTemporaryFolder { folder in
            let environment = ["DATABASE_URL": "sqlite:\(folder)/\(path)"]
            let refused = try await CommandLineRun(["migrate"], environment, in: folder)
            #expect(refused.code == 69 && refused.output.isEmpty, "\(refused.errors)")
            #expect(refused.errors.contains("There is no database at \(folder)/\(path)."))
            #expect(refused.errors.contains("does not exist either") == path.contains("/"))
            #expect(refused.errors.contains("--create"))
            #expect(!SecretFile.exists("\(folder)/\(path)") && !SecretFile.exists("\(folder)/none"))
            #expect(try await CommandLineRun(["migrate", "--create"], environment, in: folder).code == 0)
            #expect(SecretFile.exists("\(folder)/\(path)"))
            // Then it is a migration like any other.
            #expect(try await CommandLineRun(["migrate"], environment, in: folder).code == 0)
        }
    }

    @Test func `Tail shows what was sent, and top what the services did`() async throws {
        try await LocalServices.with { services in
            let sent = try await services.run("send", "--to", "alice", "--payload", "x")
            let id = try #require(sent.lines.first, "\(sent.errors)")
            let tail = try await services.run("tail", "--last", "1", "--count", "1")
            #expect(tail.code == 0 && tail.lines.count == 1, "\(tail.errors)")
            #expect(tail.output.contains(id) && tail.output.contains("accepted") && tail.output.contains("alice"))
            let top = try await services.run(
                "top", "--once", "--json", "--interval", "200ms", "--dispatcher", "http://127.0.0.1:1")
            // The dispatcher is down.
            #expect(top.code == 69, "\(top.errors)")
            #expect(top.errors.contains("dispatcher does not answer at http://127.0.0.1:1"))
            let without = try await services.run("top", "--once", "--interval", "200ms", "--dispatcher", "")
            #expect(without.code == 0 && without.errors.isEmpty, "\(without.errors)")
            let look = try #require(top.lines.first)
            #expect(look.contains(#""ingest""#) && look.contains(#""retrieval""#) && look.contains("unreachable"))
            // Nothing has failed, so there is nothing to dispatch again.
            let resent = try await services.run("resend", id)
            #expect(resent.code == 1 && resent.errors.contains("resent 0 of 1 notification"), "\(resent.errors)")
            let none = try await services.run("resend", "--failed", "--since", "1h")
            #expect(none.code == 0 && none.errors.contains("No notifications that failed"), "\(none.errors)")
        }
    }
}
