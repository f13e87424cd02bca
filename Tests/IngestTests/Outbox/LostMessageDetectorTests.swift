import Foundations
import Testing

@testable import Ingest

@Suite("LostMessageDetector")
struct LostMessageDetectorTests {
    /// Looks two seconds apart, and the number of the look by which what was due has been lost.
    static let histories: [(looks: [Int?], lostBy: Int?)] = [
        ([], nil), ([0], nil), ([0, 0], nil), ([0, 0, 0], 2), ([0, 0, 0, 0], 3),
        ([0, 0, 1, 0, 0], nil), ([0, 0, nil, 0, 0], nil), ([0, 0, 1, 0, 0, 0], 5),
        // What is published again fills the queue; the evidence of before stays.
        ([0, 0, 0, 900, 5000, nil], 2), ([0, 0, 0, 7, 0, 0], 2), ([0, 0, 0, 7, 0, 0, 0], 6),
        ([1, 1, 1, 1], nil), ([nil, nil, nil, nil], nil),
    ]

    @Test(arguments: histories)
    func `Only a queue that stays empty proves a loss`(_ history: (looks: [Int?], lostBy: Int?)) {
        let (start, time) = (ContinuousClock.now, Timestamp(milliseconds: 0))
        var detector = LostMessageDetector(quietPeriod: .seconds(4))
        for (index, look) in history.looks.enumerated() {
            detector.observe(look, at: start + .seconds(index * 2), now: time + .seconds(index))
        }
        #expect(detector.lostBy == history.lostBy.map { time + .seconds($0) })
    }
}
