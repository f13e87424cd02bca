import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Ingest

/// `RECIPIENT_E2E_REQUIRED`.
@Suite("Payloads that must be encrypted end to end", .bothWays)
struct EncryptedPayloadTests {
    private static func zeros(_ count: Int) -> String {
        Base64.encode([UInt8](repeating: 0, count: count), .url)
    }

    private static let point = Base64.encode([4] + [UInt8](repeating: 0, count: 64), .url)
    private static let entry = #"{"enc":"\#(point)","ct":"\#(zeros(48))"}"#
    private static let iv = zeros(12)

    private static func envelope(
        e2e: String = "2", keys: String = #"{"phone":\#(entry)}"#, iv: String = iv, ct: String = zeros(16),
        more: String = ""
    ) -> String {
        #"{"e2e":\#(e2e),"keys":\#(keys),"iv":"\#(iv)","ct":"\#(ct)"\#(more)}"#
    }

    private static func request(_ payload: String) -> String { #"{"Recipient":"alice","Payload":\#(payload)}"# }

    static let good: [String] = {
        let devices = (0..<100).map { #""i\#($0)":\#(entry)"# }.joined(separator: ",")
        return [
            envelope(), envelope(ct: zeros(100_000)), envelope(keys: "{\(devices)}"),
            #" { "ct":"\#(zeros(17))", "iv":"\#(iv)","keys":{"a.b_c-D":\#(entry)} , "e2e":2 } "#,
            envelope(more: #","from":"billing","sig":"\#(zeros(64))""#),
            envelope(more: #","sig":"\#(zeros(64))","from":"\#(String(repeating: "é", count: 64))""#),
        ]
    }()

    @Test(arguments: good) func `An envelope is accepted`(_ payload: String) async throws {
        try await withIngest(requiresEncryption: true) { bench in
            let answer = try await bench.post(Self.request(payload))
            #expect(answer.status == .created, "\(answer.text)")
        }
    }

    static let bad: [String] = {
        let devices = (0...100).map { #""i\#($0)":\#(entry)"# }.joined(separator: ",")
        let short = #"{"enc":"\#(zeros(32))","ct":"\#(zeros(48))"}"#
        let compressed = #"{"enc":"\#(zeros(65))","ct":"\#(zeros(48))"}"#
        let unwrapped = #"{"enc":"\#(point)","ct":"\#(zeros(32))"}"#
        let signature = zeros(64)
        return [
            #""Your results are in.""#, "null", "1", "[]", "{}", #"{"e2e":2}"#, #"{"Text":"secret"}"#,
            envelope(e2e: "1"), envelope(e2e: "2.0"), envelope(e2e: "2e0"), envelope(e2e: #""2""#),
            envelope(e2e: "true"),
            envelope(keys: "{}"), envelope(keys: "[]"), envelope(keys: "null"), envelope(keys: "{\(devices)}"),
            envelope(keys: #"{"":\#(entry)}"#), envelope(keys: #"{"a b":\#(entry)}"#), envelope(keys: #"{"a":1}"#),
            envelope(keys: #"{"a":\#(entry),"a":\#(entry)}"#), envelope(keys: #"{"a":\#(short)}"#),
            envelope(keys: #"{"a":\#(compressed)}"#),
            envelope(keys: #"{"a":\#(unwrapped)}"#), envelope(keys: #"{"a":{"enc":"\#(point)"}}"#),
            envelope(keys: #"{"a":{"enc":"\#(point)","ct":"\#(zeros(48))","name":"secret"}}"#),
            envelope(more: #","from":"billing""#), envelope(more: #","sig":"\#(signature)""#),
            envelope(more: #","from":"","sig":"\#(signature)""#), envelope(more: #","from":7,"sig":"\#(signature)""#),
            envelope(more: #","from":"\#(String(repeating: "x", count: 129))","sig":"\#(signature)""#),
            envelope(more: #","from":"billing","sig":"\#(zeros(63))""#),
            envelope(more: #","from":"billing","sig":null"#),
            envelope(more: #","from":"billing","sig":"\#(signature)","kid":"secret""#),
            envelope(iv: zeros(11)), envelope(iv: zeros(16)), envelope(iv: "AAAAAAAAAAAAAAA="), envelope(iv: "*"),
            envelope(ct: ""), envelope(ct: zeros(15)), envelope(ct: zeros(17) + "="), envelope(ct: "secret text!"),
            envelope(more: #","title":"secret""#), envelope(more: #","ct":"\#(zeros(16))""#),
            envelope().replacing(#""e2e""#, with: #""E2E""#), #"\#(envelope().dropLast())"# + #","x":{"y":{"z":1}}}"#,
        ]
    }()

    @Test(arguments: bad) func `Everything else is refused and not repeated`(_ payload: String) async throws {
        try await withIngest(requiresEncryption: true) { bench in
            let answer = try await bench.post(Self.request(payload))
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Payload"])
            #expect(!answer.text.contains("secret") && !answer.text.contains("results"))
            #expect(try await bench.store.backlog(now: .now).count == 0)
        }
        // Without the setting the payload is the sender's business.
        try await withIngest { bench in
            let answer = try await bench.post(Self.request(payload))
            #expect(answer.status == .created)
        }
    }

    @Test func `The confirmation of the tutorial is refused`() async throws {
        try await withIngest(requiresEncryption: true) { bench in
            for authorization in [bench.credentials.bearer, bench.credentials.basic] {
                let answer = try await bench.post("", authorization: authorization, contentType: nil)
                try answer.expectProblem(422)
                #expect(try answer.pointers() == ["/Payload"])
            }
            #expect(try await bench.store.backlog(now: .now).count == 0)
            // What needs no parsing is said first, as without the setting.
            try (try await bench.post("{}", authorization: bench.credentials.bearer)).expectProblem(403)
            try (try await bench.post("")).expectProblem(400)
        }
        try await withIngest { bench in
            let answer = try await bench.post("", authorization: bench.credentials.bearer, contentType: nil)
            #expect(answer.status == .created)
        }
    }

    @Test func `Every mistake of the request is named at once`() async throws {
        try await withIngest(requiresEncryption: true) { bench in
            let answer = try await bench.post(#"{"Recipient":"","Payload":"x","Priority":"low"}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Payload", "/Priority", "/Recipient"])
        }
    }

    @Test func `The lines of a batch are checked one by one`() async throws {
        try await withIngest(requiresEncryption: true) { bench in
            let lines = [Self.request(Self.envelope()), Self.request("1"), Self.request(Self.envelope())]
            let answer = try await bench.client.execute(
                uri: "/api/notifications/batch", method: .post,
                headers: [.authorization: bench.credentials.sender, .contentType: "application/x-ndjson"],
                body: ByteBuffer(string: lines.joined(separator: "\n")))
            let results = answer.text.split(separator: "\n").map(String.init)
            #expect(results.count == 3)
            #expect(results.map { $0.contains(#""Status":"accepted""#) } == [true, false, true])
            #expect(results[1].contains(#""pointer":"/Payload""#))
        }
    }

    @Test func `A refused request leaves its idempotency key free`() async throws {
        try await withIngest(requiresEncryption: true) { bench in
            let headers: HTTPFields = [.idempotencyKey: "k"]
            try (try await bench.post(Self.request("1"), headers: headers)).expectProblem(422)
            #expect(try await bench.post(Self.request(Self.envelope()), headers: headers).status == .created)
        }
    }
}
