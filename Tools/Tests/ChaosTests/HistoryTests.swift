import ChaosChecker
import Foundation
import Testing

@Suite struct HistoryTests {
    @Test func `Every event comes back as it was written`() throws {
        var history = SmallHistory()
        history.after += [
            .letter(.init(id: "id-0", platforms: ["apple"], reason: "out of attempts")),
            .gap(.init(after: 1, missing: 2)),
            .leak(.init(place: "service logs", found: 0, searchedBytes: 9, subject: "handles or keys")),
            .pushService(
                .init(
                    time: 8, platform: "fcmv1", counts: ["requests.all": 2], problems: ["?"], alive: ["a"],
                    registered: ["a"])),
            .hide(.init(time: 6, device: "user0/apple", id: "id-0")),
            .revoke(.init(time: 7, id: "id-0")),
            .exit(.init(time: 5, service: "ingest-1", isAsked: true, code: 0, took: 100)),
        ]
        for event in history.events {
            let line = try JSONEncoder().encode(event)
            #expect(!line.contains(UInt8(ascii: "\n")))
            #expect(try JSONDecoder().decode(HistoryEvent.self, from: line) == event)
        }
    }

    @Test func `An unknown event is an error`() {
        #expect(throws: DecodingError.self) {
            _ = try JSONDecoder().decode(HistoryEvent.self, from: Data(#"{"type":"surprise"}"#.utf8))
        }
    }
}

@Suite struct NeedlesTests {
    private static let marker = "canary0123456789ABCDEF"

    @Test func `The marker is found as it is`() {
        let bytes = Array("..\(Self.marker):1 \(Self.marker)".utf8)
        #expect(Needles(marker: Self.marker).occurrences(in: bytes) == 2)
    }

    @Test(arguments: 0..<6)
    func `The marker is found in base64 whatever stands before it`(_ count: Int) {
        let text = String(repeating: "x", count: count) + Self.marker + ":17"
        let encoded = Array(Data(text.utf8).base64EncodedString().utf8)
        #expect(Needles(marker: Self.marker).occurrences(in: encoded) == 1)
    }

    @Test func `What is not there is not found`() {
        let needles = Needles(marker: Self.marker)
        #expect(needles.occurrences(in: []) == 0)
        #expect(needles.occurrences(in: Array(Self.marker.dropLast().utf8)) == 0)
        #expect(needles.occurrences(in: [UInt8](repeating: UInt8(ascii: "c"), count: 10_000)) == 0)
    }

    @Test func `The overlap is shorter than every form`() {
        let needles = Needles(marker: Self.marker)
        #expect(needles.overlap >= Self.marker.utf8.count - 1)
        #expect(needles.overlap < 40)
    }
}
