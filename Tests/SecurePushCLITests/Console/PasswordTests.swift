import Foundation
import TestSupport
import Testing

@testable import SecurePushCLI

/// `users add` on a terminal, and without one.
@Suite(.timeLimit(.minutes(5))) struct PasswordTests {
    private static func add(_ folder: String, _ answers: [String], _ flags: [String] = []) async throws
        -> TerminalRun
    {
        let prompts = ["New password of carol: ", "Again: "]
        return try await TerminalRun(
            ["users", "add", "carol", "--users-file", "users"] + flags, in: folder,
            typing: zip(prompts, answers).map { ($0, $1) })
    }

    @Test func `A new password is asked for twice and not shown`() async throws {
        try await withTemporaryFolder { folder in
            let run = try await Self.add(folder, ["correct horse", "correct horse"])
            #expect(run.code == 0 && run.screen.contains("added carol"), "\(run.screen)")
            #expect(!run.screen.contains("correct horse"))
            #expect(SecretFile.exists("\(folder)/users"))
        }
    }

    @Test func `Two different passwords, and a short one, change nothing`() async throws {
        try await withTemporaryFolder { folder in
            let typo = try await Self.add(folder, ["correct horse", "correct house"])
            #expect(typo.code == 64 && typo.screen.contains("error: The two passwords differ"), "\(typo.screen)")
            let short = try await Self.add(folder, ["seven77", "seven77"])
            #expect(short.code == 64 && short.screen.contains("fewer than 8 characters"), "\(short.screen)")
            #expect(!SecretFile.exists("\(folder)/users"))
            let allowed = try await Self.add(folder, ["seven77", "seven77"], ["--allow-short"])
            #expect(allowed.code == 0 && SecretFile.exists("\(folder)/users"), "\(allowed.screen)")
        }
    }

    @Test func `A file is no terminal: nothing is asked for twice`() async throws {
        try await withTemporaryFolder { folder in
            try SecretFile.create("\(folder)/password", "pässwörter")
            let run = try await CommandLineRun(
                ["users", "add", "carol", "--users-file", "users", "--password-file", "password"], in: folder)
            #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
            try SecretFile.create("\(folder)/short", "1234567")
            let short = try await CommandLineRun(
                ["users", "add", "dave", "--users-file", "users", "--password-file", "short"], in: folder)
            #expect(short.code == 64 && short.errors.contains("--allow-short"), "\(short.errors)")
            // Standard input is empty here.
            let none = try await CommandLineRun(["users", "add", "erin", "--users-file", "users"], in: folder)
            #expect(none.code == 64 && none.errors.contains("holds no password"), "\(none.errors)")
        }
    }
}
