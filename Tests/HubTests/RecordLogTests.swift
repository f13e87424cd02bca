import Foundation
import Foundations
import HTTPTypes
import ServiceRuntime
import Testing

@testable import Hub

@Suite struct RecordLogTests {
    private func record(_ body: [UInt8] = [], kind: RecordedRequest.Kind = .send, id: String = "") -> RecordedRequest {
        RecordedRequest(
            id: id, kind: kind, hub: "h", format: .apple, tags: nil, headers: [:], body: body, receivedAt: .now)
    }

    @Test func `Memory is bounded too`() {
        let log = RecordLog(capacity: 1000, maxBytes: 10_000, feed: EventFeed())
        for _ in 0..<100 { log.append(record([UInt8](repeating: 1, count: 1000))) }
        let kept = log.records(after: nil, limit: nil)
        #expect((1...10).contains(kept.count))
        #expect(kept.last?.sequence == 100)
        log.append(record([UInt8](repeating: 1, count: 50_000)))
        #expect(log.records(after: nil, limit: nil).count == 1)
    }

    @Test(arguments: [
        ("0", 10), ("20", 10), ("25", 5), ("30", 0), ("31", 0), ("-1", 10), ("9223372036854775807", 0),
        ("-9223372036854775808", 10), ("nonsense", 10),
    ])
    func `Pages begin after any number`(_ after: String, _ count: Int) {
        let log = RecordLog(capacity: 10, feed: EventFeed())
        for _ in 0..<30 { log.append(record()) }
        #expect(log.records(after: after, limit: nil).count == count)
    }

    @Test func `A record is changed while it is kept`() {
        let log = RecordLog(capacity: 2, feed: EventFeed())
        let first = log.append(record()).sequence
        #expect(log.update(first) { $0.outcome = .cancelled })
        #expect(log.records(after: nil, limit: nil).first?.outcome == .cancelled)
        for _ in 0..<2 { log.append(record()) }
        #expect(!log.update(first) { $0.outcome = .completed })
        #expect(!log.update(0) { _ in })
        #expect(!log.update(99) { _ in })
    }

    @Test func `Headers come back as they were without the token`() {
        let name = HTTPField.Name(static: "X-Thing")
        var fields: HTTPFields = [.authorization: "secret", HubHeaders.tags: "ä", .contentType: ""]
        fields.append(HTTPField(name: name, value: "1"))
        fields.append(HTTPField(name: name, value: "2"))
        let kept = RecordedRequest(
            id: "", kind: .send, hub: "h", format: .apple, tags: nil, headers: fields, body: [], receivedAt: .now
        ).headers
        #expect(kept.joined == ["ServiceBusNotification-Tags": "ä", "Content-Type": "", "X-Thing": "1, 2"])
        #expect(kept[.authorization] == nil)
    }

    @Test func `The ID has the service's shape`() {
        let time = Timestamp(milliseconds: 1_541_552_714_000)
        let id = HubMessageID.make(at: time, random: 0x7362_2a22_7974_41e4_b434_e8c2_c141_12ce)
        let numbers = (1 + UInt64(0xb434_e8c2_c141_12ce) % 99_999_999, 1 + UInt64(0x7362_2a22_7974_41e4) % 20)
        #expect(id == "73622a22797441e4b434e8c2c14112ce-20181107010514-\(numbers.0)-\(numbers.1)")
        #expect(HubMessageID.isPossible(id))
        #expect(HubMessageID.isPossible(HubMessageID.make(at: time, isSchedule: true)))
        for other in ["", "1", "\(id)\u{1}", id.replacing("-\(numbers.0)-", with: "-0-"), String(id.dropFirst())] {
            #expect(!HubMessageID.isPossible(other), "\(other)")
        }
    }
}
