import ArgumentParser
import Domain
import Foundations
import TestSupport
import Testing

@testable import SecurePushCLI

/// Messages and answers of `send`.
@Suite struct AnswerSendTests {
    private func body(_ arguments: String..., payload: String = "Version 2.1") throws -> String {
        let command = try SendCommand.parse(["--to", "a", "--payload", "-"] + arguments)
        return try command.notification(payload: payload, now: .now).json
    }

    @Test func `A title makes a message, and answers are its buttons`() throws {
        #expect(
            try body("--title", "Deploy?", "--link", "https://a.example/7")
                == #"{"Recipient":"a","Payload":{"Title":"Deploy?","Body":"Version 2.1","#
                + #""Link":"https://a.example/7"}}"#)
        #expect(
            try body("--answers", "approve,not-now", "--challenge", "42", "--display", "app")
                == #"{"Recipient":"a","Payload":{"Body":"Version 2.1","Actions":[{"Id":"approve","Title":"Approve"},"#
                + #"{"Id":"not-now","Title":"Not now"}]},"Display":"app","Answers":["approve","not-now"],"#
                + #""Challenge":"42"}"#)
    }

    @Test func `More answers than a message has buttons are the app's own affair`() throws {
        #expect(
            try body("--answers", "1,2,3,4")
                == #"{"Recipient":"a","Payload":{"Body":"Version 2.1"},"Answers":["1","2","3","4"]}"#)
    }

    @Test func `A JSON payload stays as written, with its own buttons`() throws {
        #expect(
            try body("--json-payload", "--answers", "ok", payload: "[1]")
                == #"{"Recipient":"a","Payload":[1],"Answers":["ok"]}"#)
    }

    @Test(arguments: [
        ["--answers", ""], ["--answers", "a,a"], ["--answers", "A"], ["--answers", "1,2,3,4,5,6"],
        ["--challenge", "42"], ["--answers", "a", "--challenge", "4 2"], ["--answers", "a", "--challenge", ""],
        ["--wait", "answered"], ["--json-payload", "--title", "T"], ["--display", "none"],
        ["--title", String(repeating: "t", count: 201)],
    ])
    func `What cannot be sent is a usage error`(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try SendCommand.parse(["--to", "a", "--payload", "x"] + arguments) }
    }

    @Test func `A text that is too long for a message is refused`() throws {
        let text = String(repeating: "x", count: 4001)
        #expect(throws: CommandFailure.self) { try body("--title", "T", payload: text) }
        _ = try body("--title", "T", payload: String(text.dropFirst()))
    }

    /// The answer in the status, the further status, the exit code, the last line, and a word of the message.
    static let waits: [(answer: String, status: String, code: Int32, last: String, word: String)] = [
        (#","Answer":{"Action":"approve","At":"x"}"#, "read", 0, "approve", "answered after"),
        (#","Answer":{"Action":"deny","At":"x"}"#, "read", 2, "deny", "not approve"),
        (#","Answer":{"Failed":true}"#, "read", 1, "", "challenges were wrong"),
        ("", "expired", 1, "", ": expired"), ("", "revoked", 1, "", ": revoked"), ("", "read", 1, "", ": still read"),
    ]

    @Test(arguments: waits)
    func `Only the first of the answers is a success`(
        _ row: (answer: String, status: String, code: Int32, last: String, word: String)
    ) async throws {
        let id = NotificationID().description
        let reply = { @Sendable (request: String, number: Int) -> ScriptedServer.Answer in
            if request.hasPrefix("POST") { return .init(status: 201, body: #"{"Id":"\#(id)"}"#) }
            let (status, answer) = number < 3 ? ("dispatched", "") : (row.status, row.answer)
            return .init(
                body: #"{"Id":"\#(id)","Status":"\#(status)","CreatedAt":"2026-11-21T08:30:00.000Z","Deliveries":[]"#
                    + answer + "}")
        }
        try await ScriptedServer.with(reply) { server in
            let run = try await CommandLineRun(
                [
                    "send", "--to", "alice", "--payload", "x", "--answers", "approve,deny", "--wait", "answered",
                    "--wait-timeout", "2s",
                ],
                ["INGEST_URL": server.url, "INGEST_API_KEY": "k"])
            #expect(run.code == row.code, "\(run.errors)")
            #expect(run.lines == [id] + (row.last.isEmpty ? [] : [row.last]))
            #expect(run.errors.contains(row.word), "\(run.errors)")
        }
    }

    @Test func `The status tells the answer`() {
        var answer = Wire.Status.Answer()
        (answer.action, answer.text, answer.at, answer.deviceId) = ("deny", "not\nme", "2026-11-27T22:01:12.345Z", "p")
        #expect(
            answer.line.hasPrefix("deny \"not") && answer.line.hasSuffix(" at 2026-11-27T22:01:12.345Z by device p"))
        #expect(!answer.line.contains("\n"))
        #expect(Wire.Status.Answer(failed: true).line == "none: too many challenges were wrong")
    }
}
