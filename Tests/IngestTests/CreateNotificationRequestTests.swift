import APITestSupport
import Domain
import Foundations
import Testing

@testable import Ingest

@Suite struct CreateNotificationRequestTests {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    static func read(_ text: String) throws(CreateNotificationRefusal) -> CreateNotificationRequest {
        let bytes = [UInt8](text.utf8)
        return try bytes.withUnsafeBufferPointer { buffer throws(CreateNotificationRefusal) in
            try CreateNotificationRequest(
                body: buffer, available: [.apple, .fcmv1, .windows], retention: .seconds(30 * 86400), now: now)
        }
    }

    static func issues(_ text: String) -> [String: String]? {
        do {
            _ = try read(text)
            return nil
        } catch .invalid(let issues) {
            return Dictionary(issues.entries.map { ($0.pointer, $0.detail) }) { first, _ in first }
        } catch {
            return nil
        }
    }

    @Test func `The least is enough`() throws {
        let request = try Self.read(#"{"Recipient":"alice","Payload":"Your results are in."}"#)
        #expect(request.recipients.map(\.text) == ["alice"])
        #expect(!request.isForMany)
        #expect(String(decoding: request.payload, as: UTF8.self) == #""Your results are in.""#)
        #expect(request.presentation == .silent)
        #expect(request.platforms == nil)
    }

    @Test func `The names that devices use are taken`() throws {
        let request = try Self.read(#"{"Recipient":"a","Payload":1,"Platforms":["wns","apns","apple"]}"#)
        #expect(request.platforms == [.windows, .apple])
        #expect(Self.issues(#"{"Recipient":"a","Payload":1,"Platforms":["mpns"]}"#)?.keys.sorted() == ["/Platforms/0"])
    }

    @Test func `Every member is read`() throws {
        let request = try Self.read(
            """
            {"recipients": ["a", "b"], "PAYLOAD": null, "presentation": "alert", "alert": {"title": "T", "body": "B"},
             "platforms": ["windows", "apple", "apple"], "expiresAt": "2027-02-01T00:00:00+01:00",
             "notBefore": "2027-01-31T12:00:00.5Z", "collapseKey": "k", "priority": "normal"}
            """)
        #expect(request.recipients.map(\.text) == ["a", "b"])
        #expect(request.isForMany)
        #expect(request.payload == [UInt8]("null".utf8))
        #expect(request.presentation == .alert)
        #expect(request.alert == AlertText(title: "T", body: "B"))
        #expect(request.platforms == [.windows, .apple])
        #expect(request.expiresAt?.description == "2027-01-31T23:00:00.000Z")
        #expect(request.notBefore?.description == "2027-01-31T12:00:00.500Z")
        #expect(request.collapseKey == "k")
        #expect(request.priority == .normal)
    }

    @Test(arguments: [
        "1e400", "-0.0", "1.10", "12345678901234567890", #"{"b":1,"a":[true,null]}"#, #""\u0041\n\ud83d\ude00""#,
        #"  [1, 2 ]"#, #""""#, "false", #"{"a":1,"a":2}"#,
    ])
    func `Payloads are kept as they came`(_ payload: String) throws {
        let request = try Self.read(#"{"Recipient":"alice","Payload":\#(payload)}"#)
        #expect(String(decoding: request.payload, as: UTF8.self) == payload.drop { $0 == " " })
    }

    @Test func `Every offending member is named`() throws {
        let issues = try #require(
            Self.issues(
                """
                {"Recipient": 7, "Recipients": [], "Presentation": "loud", "Alert": {"Title": 1, "Sound": "x"},
                 "Platforms": ["apple", "nokia"], "ExpiresAt": "yesterday", "NotBefore": "2001-01-01T00:00:00Z",
                 "CollapseKey": "", "Priority": true, "Secret/~": 1, "priority": "high"}
                """))
        #expect(
            Set(issues.keys) == [
                "/Recipient", "/Recipients", "/Payload", "/Presentation", "/Alert/Title", "/Alert/Sound",
                "/Platforms/1", "/ExpiresAt", "/NotBefore", "/CollapseKey", "/Priority", "/Secret~1~0",
            ])
    }

    @Test func `Issues are in the order of the contract`() throws {
        let body = #"{"Payload": 1, "x": 0, "Priority": 2, "PAYLOAD": 3, "Alert": {"y": 0, "Title": 4}}"#
        #expect {
            _ = try Self.read(body)
        } throws: { error in
            guard case CreateNotificationRefusal.invalid(let issues) = error else { return false }
            return issues.entries.map(\.pointer) == [
                "/Recipient", "/Payload", "/Alert/Title", "/Alert/y", "/Priority", "/x",
            ]
        }
    }

    @Test(arguments: [
        (#"[]"#, ""), (#"{"Payload":1}"#, "/Recipient"), (#"{"Recipient":"a"}"#, "/Payload"),
        (#"{"Recipient":"","Payload":1}"#, "/Recipient"), (#"{"Recipient":"a\u0000","Payload":1}"#, "/Recipient"),
        (#"{"Recipient":null,"Payload":1}"#, "/Recipient"),
        (#"{"Recipient":"a","Payload":1,"Platforms":[]}"#, "/Platforms"),
        (#"{"Recipient":"a","Payload":1,"Alert":"x"}"#, "/Alert"),
        (#"{"Recipient":"a","recipient":"b","Payload":1}"#, "/Recipient"),
        (
            #"{"Recipient":"a","Payload":1,"ExpiresAt":"2028-01-01T00:00:00Z","NotBefore":"2028-01-01T00:00:00Z"}"#,
            "/NotBefore"
        ),
        // Past RETENTION the payload would be gone before it is sent.
        (#"{"Recipient":"a","Payload":1,"NotBefore":"2028-01-01T00:00:00Z"}"#, "/NotBefore"),
        (#"{"Recipient":"a","Payload":1,"NotBefore":"2028-01-01T00:00:00Z","ExpiresAt":null}"#, "/NotBefore"),
        (#"{"Recipient":"a","Payload":1,"NotBefore":"2028-01-01T00:00:00Z","ExpiresAt":"then"}"#, "/ExpiresAt"),
    ])
    func `One mistake is named`(_ body: String, _ pointer: String) throws {
        #expect(try #require(Self.issues(body)).keys.sorted() == [pointer])
    }

    @Test(arguments: ["", "\u{0}", "{", "{]", #"{"Recipient":"a","Payload":}"#, "nul", #"{"a":"\ud800"}"#, "{} {}"])
    func `What is not JSON is malformed`(_ body: String) {
        #expect {
            _ = try Self.read(body)
        } throws: { error in
            if case CreateNotificationRefusal.malformed = error { true } else { false }
        }
    }

    @Test func `Payloads have a limit`() throws {
        let limit = CreateNotificationRequest.Limit.maxPayloadBytes
        let fitting = String(repeating: "x", count: limit)
        _ = try Self.read(#"{"Recipient":"a","Payload":"\#(fitting)"}"#)
        #expect(throws: CreateNotificationRefusal.payloadTooLarge(bytes: limit + 1)) {
            _ = try Self.read(#"{"Recipient":"a","Payload":"\#(fitting)x"}"#)
        }
        // Escapes count as what they stand for.
        let escaped = String(repeating: #"\u0041"#, count: limit)
        _ = try Self.read(#"{"Recipient":"a","Payload":"\#(escaped)"}"#)
    }

    @Test func `A thousand recipients and no more`() throws {
        let names = (0..<1001).map { #""u\#($0)""# }
        let fitting = names.dropLast().joined(separator: ",")
        #expect(try Self.read(#"{"Recipients":[\#(fitting)],"Payload":1}"#).recipients.count == 1000)
        let issues = Self.issues(#"{"Recipients":[\#(names.joined(separator: ","))],"Payload":1}"#)
        #expect(issues?.keys.sorted() == ["/Recipients"])
    }
}
