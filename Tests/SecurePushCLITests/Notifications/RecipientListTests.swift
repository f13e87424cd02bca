import ArgumentParser
import Testing

@testable import SecurePushCLI

@Suite struct RecipientListTests {
    @Test func `A file has one name per line, with comments, empty lines and foreign line ends`() throws {
        var list = RecipientList(["alice"])
        try list.add(linesOf: "# customers\r\n\r\n bob \r\nalice\n\tcarol smith\n#dave\nbob", from: "f")
        #expect(list.names == ["alice", "bob", "carol smith"])
        #expect(list.duplicates == 2)
    }

    @Test(arguments: [
        "\u{FEFF}alice\nbob\n", "\u{FEFF}alice\r\n\u{FEFF}bob", "alice\u{A0}\n\u{200B}bob\n", "alice\n#\u{301}x\nbob",
    ])
    func `A byte order mark and pasted blanks are no part of a name`(text: String) throws {
        var list = RecipientList()
        try list.add(linesOf: text, from: "f")
        #expect(list.names.elementsEqual(["alice", "bob"]) { $0.utf8.elementsEqual($1.utf8) })
    }

    @Test func `Names are compared by their bytes`() {
        // é as one character, and as e with an accent: equal to Swift, two users to SecurePush.
        let list = RecipientList(["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"])
        #expect(list.names.count == 2 && list.duplicates == 1)
    }

    @Test func `A wrong name is found by its line`() {
        var list = RecipientList()
        let failure = #expect(throws: CommandFailure.self) {
            try list.add(linesOf: "alice\n\nbo\u{7}b\n", from: "names.txt")
        }
        #expect(failure?.code == .usage && failure?.message.contains("names.txt, line 3") == true)
        #expect(throws: CommandFailure.self) {
            try list.add(linesOf: String(repeating: "x", count: 1025), from: "names.txt")
        }
    }

    @Test func `Batches hold 1,000 names, less with a large payload, and no body is too long`() {
        let list = RecipientList((0..<2500).map { "user\($0)" })
        #expect(list.batches(payloadBytes: 100).map(\.count) == [1000, 1000, 500])
        #expect(list.batches(payloadBytes: 100).flatMap { $0 } == list.names)
        // 8 MiB for the payloads of a request.
        #expect(list.batches(payloadBytes: 256 << 10).first?.count == 32)
        #expect(list.batches(payloadBytes: 9 << 20).allSatisfy { $0.count == 1 })
        let long = RecipientList((0..<2000).map { String(repeating: "\"", count: 1000) + "\($0)" })
        for batch in long.batches(payloadBytes: 100) {
            #expect(NotificationBody(recipients: batch, payloadJSON: "\"x\"").json.utf8.count <= 2 << 20)
        }
    }

    @Test func `Each request has its own idempotency key`() {
        #expect(SendCommand.key("k", batch: 0, of: 1) == "k")
        #expect(SendCommand.key("k", batch: 2, of: 3) == "k.3")
        #expect(SendCommand.key(nil, batch: 2, of: 3) == nil)
    }

    @Test(arguments: [
        ["--idempotency-key", ""], ["--idempotency-key", "a b"], ["--idempotency-key", "é"],
        ["--idempotency-key", String(repeating: "k", count: 256)], ["--idempotency-key", "k", "--e2e"],
        ["--idempotency-key", "k", "--expires-in", "1h"], ["--idempotency-key", "k", "--not-before", "1h"],
        ["--idempotency-key", String(repeating: "k", count: 248), "--to-file", "names"],
        ["--idempotency-key", String(repeating: "k", count: 248), "--to", "b"],
        ["--not-before", "soon"], ["--to-file", "-", "--payload", "-"],
    ])
    func `What cannot work is a usage error`(flags: [String]) {
        let payload = flags.contains("--payload") ? [] : ["--payload", "x"]
        #expect(throws: (any Error).self) { try SendCommand.parse(["--to", "a"] + payload + flags) }
    }
}
