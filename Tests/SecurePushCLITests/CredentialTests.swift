import ArgumentParser
import Domain
import Foundation
import SecurePushClient
import TestSupport
import Testing

@testable import SecurePushCLI

/// API keys, tokens and passwords as people hand them over: with line ends, blanks and control characters.
@Suite(.timeLimit(.minutes(3))) struct CredentialTests {
    @Test(arguments: ["%\r", "%\n", "\u{FEFF}%\r\n", "%\u{A0}", " %\t", "%\u{200B}\n"])
    func `Blanks and line ends around a credential are ignored`(form: String) async throws {
        let text = form.replacing("%", with: "spk_secret")
        try await withTemporaryFolder { folder in
            let file = folder + "/key"
            try Data(text.utf8).write(to: URL(filePath: file))
            for environment in [["INGEST_API_KEY": text], ["INGEST_API_KEY_FILE": file]] {
                let found = try ClientCredentials.bearer(setting: "INGEST_API_KEY", Settings(environment))
                #expect(found == .bearer("spk_secret"))
            }
            #expect(try ClientCredentials.bearer(file: file, of: "--api-key-file") == .bearer("spk_secret"))
            let options = try UserCredentialOptions.parse(["--token-file", file])
            #expect(try options.token([:])?.text == "spk_secret")
            #expect(try UserCredentialOptions.parse([]).token(["RETRIEVAL_TOKEN": text])?.text == "spk_secret")
        }
    }

    static let inner = [
        "spk\r_secret", "spk\u{0B}_secret", "spk_\u{202E}secret", "spk_sec\u{FEFF}ret", "spk_\u{7F}secret",
    ]
    static let commands: [[String]] = [
        ["list"], ["list", "--json"], ["status", NotificationID().description], ["tail", "--count", "1"],
        ["send", "--to", "alice", "--payload", "x"], ["load-test", "--count", "1"], ["doctor"],
        ["inbox", "--user", "alice"], ["read", NotificationID().description],
    ]

    @Test(arguments: commands)
    func `A control character inside is one sentence without the value`(command: [String]) async throws {
        for text in [Self.inner[0], Self.inner[3]] {
            let settings = [
                "INGEST_API_KEY": text, "RETRIEVAL_TOKEN": text, "INGEST_URL": "http://127.0.0.1:1",
                "RETRIEVAL_URL": "http://127.0.0.1:1",
            ]
            let run = try await CommandLineRun(command, settings)
            #expect(run.code == 78, "\(run.errors)")
            #expect(run.errors.contains("INGEST_API_KEY") && run.errors.contains("RETRIEVAL_TOKEN"))
            Self.expectSilence(run)
        }
    }

    @Test(arguments: inner + ["spk secret", "spk_sécret"])
    func `A file of a credential is checked as well`(text: String) async throws {
        try await withTemporaryFolder { folder in
            try Data(text.utf8).write(to: URL(filePath: folder + "/key"))
            let rows: [([String], [String: String], Int32, String)] = [
                (["list", "--api-key-file", "key"], [:], 64, "--api-key-file"),
                (["list"], ["INGEST_API_KEY_FILE": "key"], 78, "INGEST_API_KEY_FILE"),
                (["inbox", "--user", "a", "--token-file", "key"], [:], 64, "--token-file"),
                (["load-test", "--count", "1", "--api-key-file", "key"], [:], 64, "--api-key-file"),
                (["token", "--user", "a", "--refresh-token-file", "key"], [:], 64, "--refresh-token-file"),
            ]
            for (command, settings, code, name) in rows {
                let run = try await CommandLineRun(command, settings, in: folder)
                #expect(run.code == code && run.errors.contains("\(name) holds"), "\(run.errors)")
                Self.expectSilence(run)
            }
        }
    }

    @Test(arguments: [("DATABASE_URL_FILE", ["migrate"]), ("AMQP_URL_FILE", ["dead-letters", "list"])])
    func `A file of a URL is checked as well`(key: String, command: [String]) async throws {
        try await withTemporaryFolder { folder in
            for text in ["sqlite:x\n/secret", "amqp://u:secret\u{B}@127.0.0.1:1"] {
                try Data(text.utf8).write(to: URL(filePath: folder + "/url"))
                let run = try await CommandLineRun(command, [key: "url"], in: folder)
                #expect(run.code == 78 && run.errors.contains("\(key) holds a control character"), "\(run.errors)")
                Self.expectSilence(run)
            }
        }
    }

    @Test func `A fault in the file of a URL is told under the file's name`() async throws {
        try await withTemporaryFolder { folder in
            let key = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAQID\n-----END ENCRYPTED PRIVATE KEY-----\n"
            try Data(key.utf8).write(to: URL(filePath: folder + "/key.pem"))
            for (text, words) in [
                ("http://u:secret@h", "AMQP_URL_FILE: an AMQP URL must begin with amqp://"),
                ("amqps://u:secret@h/?certfile=c&keyfile=\(folder)/key.pem", "is encrypted: decrypt it"),
            ] {
                try Data(text.utf8).write(to: URL(filePath: folder + "/url"))
                let run = try await CommandLineRun(["dead-letters", "list"], ["AMQP_URL_FILE": "url"], in: folder)
                #expect(run.code == 78 && run.errors.contains("AMQP_URL_FILE: "), "\(run.errors)")
                #expect(run.errors.contains(words), "\(run.errors)")
                Self.expectSilence(run)
            }
        }
    }

    @Test(arguments: inner)
    func `A password with a control character inside is refused`(text: String) async throws {
        try await withTemporaryFolder { folder in
            try Data(text.utf8).write(to: URL(filePath: folder + "/password"))
            for command in [
                ["inbox", "--user", "a"], ["token", "--user", "a"], ["users", "add", "a", "--users-file", "u"],
            ] {
                let run = try await CommandLineRun(command + ["--password-file", "password"], in: folder)
                #expect(
                    run.code == 64 && run.errors.contains("--password-file holds a control character"), "\(run.errors)")
                Self.expectSilence(run)
            }
        }
    }

    @Test(arguments: [
        ["list", "--limit", "spk_secret"], ["list", "spk_secret"], ["list", "spk_secret", "spk_secret2"],
        ["status", "spk_secret"], ["tail", "--interval=spk_secret"], ["list", "-s", "spk_secret"],
        ["spk_secret"], ["users", "spk_secret"], ["help", "spk_secret"], ["users", "my-long-and-very-dear-secret"],
        ["list", "--api-key=\u{301}secret"], ["list", "--postgres://u:secret@h"],
        ["list", "--ingest-url", "http://a:spk_secret@127.0.0.1:99999"], ["list", "--ingest-url", "a:spk_secret@h"],
    ])
    func `A secret in the wrong place of the command line is not repeated`(arguments: [String]) async throws {
        let run = try await CommandLineRun(arguments, ["INGEST_API_KEY": "k"])
        #expect(run.code == 64, "\(run.errors)")
        Self.expectSilence(run)
    }

    @Test(arguments: ["INGEST_URL", "RETRIEVAL_URL"])
    func `The password of a URL is in no message`(key: String) async throws {
        let command = key == "INGEST_URL" ? ["list"] : ["inbox", "--user", "a"]
        for url in ["http://u:spk_secret@127.0.0.1:1/", "http://u:a@spk_secret@127.0.0.1:1"] {
            let run = try await CommandLineRun(
                command, [key: url, "INGEST_API_KEY": "k", "RETRIEVAL_TOKEN": "t"])
            #expect(run.code == 69 || run.code == 64, "\(run.errors)")
            Self.expectSilence(run)
        }
    }

    private static func expectSilence(_ run: CommandLineRun) {
        let said = run.output + run.errors
        #expect(!said.contains("secret") && !said.contains("sécret"), "\(said)")
        #expect(run.errors.split(separator: "\n").count <= 5, "\(said)")
    }
}
