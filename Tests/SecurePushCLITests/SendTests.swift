import ArgumentParser
import Domain
import Foundations
import Testing

@testable import SecurePushCLI

@Suite struct SendTests {
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func body(_ arguments: String..., payload: String = "secret") throws -> String {
        try SendCommand.parse(arguments + ["--payload", "-"]).notification(payload: payload, now: now).json
    }

    @Test func `One recipient and a text`() throws {
        #expect(try body("--to", "alice", payload: "a \"b\"\n") == #"{"Recipient":"alice","Payload":"a \"b\"\n"}"#)
    }

    @Test func `Many recipients`() throws {
        #expect(try body("--to", "alice", "--to", "bob") == #"{"Recipients":["alice","bob"],"Payload":"secret"}"#)
    }

    @Test(arguments: ["12.50", "1e400", "null", #"{"b":1,"a":[true, 0.10]}"#, #""text""#])
    func `A JSON payload travels as written`(json: String) throws {
        #expect(try body("--to", "a", "--json-payload", payload: json) == #"{"Recipient":"a","Payload":\#(json)}"#)
    }

    @Test(arguments: ["{", "", "tru", "1 2", #"{"Payload":1}}"#])
    func `What is no JSON is refused before it is sent`(json: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try body("--to", "a", "--json-payload", payload: json)
        }
        #expect(failure?.code == .usage)
    }

    @Test func `Every option has its member`() throws {
        let json = try body(
            "--to", "a", "--presentation", "alert", "--alert-title", "T", "--alert-body", "B", "--platform", "apple",
            "--platform",
            "windows", "--expires-in", "1h", "--collapse-key", "k", "--priority", "normal")
        #expect(
            json
                == #"{"Recipient":"a","Payload":"secret","Presentation":"alert","Alert":{"Title":"T","Body":"B"},"#
                + #""Platforms":["apple","windows"],"ExpiresAt":"2027-01-15T09:00:00.000Z","CollapseKey":"k","#
                + #""Priority":"normal"}"#)
    }

    @Test func `Reminders are durations`() throws {
        let json = try body("--to", "a", "--remind", "1m", "--remind", "90s", "--remind", "1.5h")
        #expect(json == #"{"Recipient":"a","Payload":"secret","Remind":["1m","90s","90m"]}"#)
        let wrong = [["29s"], ["366d"], ["x"], ["1m", "1m", "1m", "1m", "1m", "1m"]]
        for values in wrong {
            let flags = values.flatMap { ["--remind", $0] }
            #expect(throws: (any Error).self) { try SendCommand.parse(["--to", "a", "--payload", "x"] + flags) }
        }
    }

    @Test func `IDs of one and of many`() throws {
        #expect(try SendResponse.ids(#"{"Id":"1","Status":"accepted"}"#) == ["1"])
        #expect(try SendResponse.ids(#"{"Notifications":[{"Id":"1"},{"Id":"2"}]}"#) == ["1", "2"])
        #expect(throws: CommandFailure.self) { try SendResponse.ids("{}") }
    }
}
