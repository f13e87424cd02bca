import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Testing

@testable import Hub

@Suite struct RecordTests {
    @Test func `Everything that crossed is there and no token`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "username:alice")
            _ = try await emulator.send(
                #"{"aps":{"content-available":1},"secureId":"7"}"#, tags: "username:alice",
                headers: [.contentType: "application/json", HTTPField.Name(static: "apns-priority"): "5"])
            let records = try await emulator.records()
            #expect(records.map { $0["Kind"] as? String } == ["register", "send"])
            #expect((records[0]["Body"] as? String)?.contains("<Tags>username:alice</Tags>") == true)
            let send = records[1]
            #expect(send["Hub"] as? String == "hub")
            #expect(send["Platform"] as? String == "apple")
            #expect(send["Tags"] as? String == "username:alice")
            #expect(send["Body"] as? String == #"{"aps":{"content-available":1},"secureId":"7"}"#)
            #expect(send["Deliveries"] as? [String] == ["AA"])
            #expect(send["Outcome"] as? String == "Completed")
            #expect(send["Warnings"] as? [String] == [])
            let headers = try #require(send["Headers"] as? [String: String])
            #expect(headers["apns-priority"] == "5")
            let all = try await emulator.call(.get, "/emulator/messages", authorization: nil).text
            #expect(!all.contains("SharedAccessSignature"))
        }
    }

    @Test func `The log is bounded and paged`() async throws {
        try await withEmulator(recordCapacity: 5) { emulator in
            for number in 1...8 { _ = try await emulator.send("\(number)", format: "adm") }
            func bodies(_ query: String = "") async throws -> [String] {
                try await emulator.records(query).compactMap { $0["Body"] as? String }
            }
            #expect(try await bodies() == ["4", "5", "6", "7", "8"])
            #expect(try await bodies("?Limit=2") == ["7", "8"])
            #expect(try await bodies("?after=6") == ["7", "8"])
            #expect(try await bodies("?After=6&limit=1") == ["7"])
            let id = try #require(try await emulator.records()[1]["Id"] as? String)
            #expect(try await bodies("?After=\(id)") == ["6", "7", "8"])
            let bad = try await emulator.call(.get, "/emulator/messages?Limit=x", authorization: nil)
            #expect(bad.status.code == 422)
            _ = try await emulator.call(.delete, "/emulator/messages", authorization: nil)
            #expect(try await bodies() == [])
        }
    }

    @Test func `Bodies that are no text are kept whole`() async throws {
        let log = RecordLog(capacity: 2, feed: EventFeed())
        log.append(
            RecordedRequest(
                id: "1", kind: .send, hub: "h", format: .windows, tags: nil, headers: [:], body: [0xFF, 0x00],
                receivedAt: .now))
        let json = JSONValue.array(log.records(after: nil, limit: nil).map(\.json)).json
        #expect(json.contains(#""BodyBase64":"/wA=""#))
    }

    @Test(
        arguments: [
            (NotificationFormat.apple, ["apns-priority": "5"], #"{"aps":{"content-available":1},"secureId":"7"}"#, 0),
            (.apple, ["apns-priority": "10"], #"{"aps":{"content-available":1}}"#, 1),
            (.apple, ["apns-priority": "5", "apns-push-type": "alert"], #"{"aps":{"content-available":1}}"#, 1),
            (.apple, [:], #"{"aps":{"alert":"hi"}}"#, 0), (.apple, [:], "7", 1),
            (.apple, ["apns-priority": "5"], #"{"aps":{"content-available":1,"sound":"x"}}"#, 1),
            (.fcmv1, [:], #"{"message":{"data":{"secureId":"7"}}}"#, 0), (.fcmv1, [:], #"{"data":{}}"#, 1),
            (.fcmv1, [:], #"{"message":{"data":{"from":"7","google.x":"1"}}}"#, 2),
            (.fcmv1, [:], #"{"message":{"token":"t","data":{"a":1}}}"#, 2), (.gcm, [:], #"{"data":{"a":"b"}}"#, 0),
            (.windows, ["x-wns-type": "wns/raw", "content-type": "application/octet-stream"], "7", 0),
            (.windows, ["x-wns-type": "wns/raw", "content-type": "application/xml"], "7", 1), (.windows, [:], "7", 1),
            (.windows, ["x-wns-type": "wns/toast", "content-type": "text/xml"], "<?xml version='1.0'?>\n<toast/>", 0),
            (.windows, ["x-wns-type": "wns/toast", "content-type": "text/xml"], "<tile/>", 1),
            (
                .windows, ["x-wns-type": "wns/badge", "content-type": "application/json"],
                "<!-- a --><badge value='1'/>", 1
            ),
            (.windows, ["x-wns-type": "wns/odd", "content-type": "text/xml"], "<toast/>", 1),
            (.windows, ["x-wns-type": "wns/tile", "content-type": "application/xml"], "", 1),
            (.windowsphone, [:], "7", 0),
            (.adm, [:], String(repeating: "x", count: 9000), 1), (.adm, [:], String(repeating: "x", count: 6000), 0),
            (.fcmv1, [:], #"{"message":{"data":{"a":"\#(String(repeating: "x", count: 4096))"}}}"#, 1),
        ] as [(NotificationFormat, [String: String], String, Int)])
    func `Platform rules are warned about`(
        _ format: NotificationFormat, _ headers: [String: String], _ body: String, _ count: Int
    ) {
        let warnings = PlatformRules.warnings(format: format, headers: headers, body: Array(body.utf8))
        #expect(warnings.count == count, "\(warnings)")
    }
}
