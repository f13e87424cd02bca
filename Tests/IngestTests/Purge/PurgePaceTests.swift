import StackKit
import Testing

@testable import Ingest

@Suite("PurgePace")
struct PurgePaceTests {
    @Test func `After a full batch it pauses for twice its time`() {
        var pace = PurgePace()
        #expect(pace.pause(afterBatchOf: 500, taking: .milliseconds(40)) == .milliseconds(80))
        #expect(pace.limit == 500)
    }

    @Test func `A batch that is not full is the last`() {
        var pace = PurgePace()
        #expect(pace.pause(afterBatchOf: 499, taking: .milliseconds(1)) == nil)
        #expect(pace.limit == 500)
    }

    @Test func `Slow batches shrink and quick ones grow`() {
        var pace = PurgePace()
        for expected in [250, 125, 62, 31, 16, 16] {
            #expect(pace.pause(afterBatchOf: pace.limit, taking: .milliseconds(51)) == .milliseconds(102))
            #expect(pace.limit == expected)
        }
        for expected in [32, 64, 128, 256, 512, 1000, 1000] {
            #expect(pace.pause(afterBatchOf: pace.limit, taking: .milliseconds(25)) == .milliseconds(50))
            #expect(pace.limit == expected)
        }
    }

    @Test func `A pause has an end`() {
        var pace = PurgePace()
        #expect(pace.pause(afterBatchOf: 500, taking: .seconds(30)) == .seconds(2))
    }
}
