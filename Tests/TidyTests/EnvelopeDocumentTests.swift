import Foundation
import TestSupport
import Testing

/// The worked example of docs/reference/e2e-envelope.md has the numbers of the test vector that it names.
@Suite struct EnvelopeDocumentTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TestEnvironment.packageRoot.appending(path: path), encoding: .utf8)
    }

    private static func example() throws -> JSONNode {
        let file = try JSONNode(Array(try text("Clients/vectors/e2e.json").utf8))
        let cases = file["cases"]?.elements ?? []
        return try #require(cases.first { $0["name"]?.text == "a text" })
    }

    @Test func `The numbers are those of the vector`() throws {
        let document = try Self.text("docs/reference/e2e-envelope.md")
        let example = try Self.example()
        let device = try #require(example["device"]?.text)
        let payload = try #require(example["payload"]?.text)
        let key = try #require(example["privateKeys"]?.elements.first)
        let lines: [(name: String, value: JSONNode?)] = [
            ("device", example["device"]), ("private key d", key["d"]), ("public key x", key["x"]),
            ("public key y", key["y"]), ("id", example.at(["sealing", "id"])),
            ("content key", example.at(["sealing", "contentKey"])), ("iv", example.at(["sealing", "iv"])),
            ("ephemeral d", example.at(["sealing", "ephemeralKeys", device, "d"])),
            ("ephemeral x", example.at(["sealing", "ephemeralKeys", device, "x"])),
            ("ephemeral y", example.at(["sealing", "ephemeralKeys", device, "y"])),
        ]
        for (name, value) in lines {
            let line = name.padding(toLength: 17, withPad: " ", startingAt: 0) + (try #require(value?.text))
            #expect(document.contains("\n\(line)\n"), "\(line)")
        }
        #expect(document.contains(#"{"Recipient":"alice","Payload":\#(payload)}"#))
        let envelope = try JSONNode(Array(payload.utf8))
        for path in [["ct"], ["keys", device, "ct"]] {
            let value = try #require(envelope.at(path)?.text)
            #expect(document.contains("\nct               \(value)\n"), "\(path)")
        }
        let enc = try #require(envelope.at(["keys", device, "enc"])?.text)
        #expect(document.contains("\nenc              \(enc)\n"))
        #expect(example.at(["expect", "content"])?.text == #""The code is 4711.""#)
    }
}
