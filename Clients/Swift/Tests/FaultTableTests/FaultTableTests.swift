import Foundation
import SecurePushClient
import Testing

#if os(Linux)
/// Every fault at every stage, with simulated time: one completion each, within 28 s, with the generic text in place of
/// a secret that could not be had; and when everything works again, each secret is shown once.
@Suite(.timeLimit(.minutes(10))) struct FaultTableTests {
    @Test func everyFaultAtEveryStageEndsOnceAndInTime() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            let report = try await SimulatedExecutor.simulate {
                try FaultReport(cells: FaultCell.all(seeds: [0]))
            }
            print(report.summary)
            #expect(report.complaints == [], "\(report.complaints.count) cells")
            #expect(report.cells >= 34 * 11 * 2 * 3)
        }
        show(result)
    }
}

/// The table's result.
struct FaultReport: Sendable {
    private(set) var cells = 0
    private(set) var struck = 0
    private(set) var completions = 0
    private(set) var secrets = 0
    private(set) var hints = 0
    private(set) var slowest: TimeInterval = 0
    private(set) var slowestCell = ""
    /// The failures, one line for each cell.
    private(set) var complaints: [String] = []

    init(cells all: [FaultCell]) throws {
        for cell in all {
            let seen: FaultCell.Observation
            do { seen = try cell.run() } catch {
                complaints.append("\(cell): \(error)")
                continue
            }
            cells += 1
            struck += seen.struck && cell.fault != .none ? 1 : 0
            completions += seen.completions
            secrets += seen.shown
            hints += seen.shown == 0 ? 1 : 0
            if seen.seconds > slowest { (slowest, slowestCell) = (seen.seconds, "\(cell)") }
            let wrong = Self.wrong(cell, seen)
            if !wrong.isEmpty { complaints.append("\(cell): \(wrong.joined(separator: ", "))") }
        }
    }

    var summary: String {
        """
        Fault table: \(Fault.all.count - 1) faults and none × \(Stage.allCases.count) stages × \
        \(FaultCell.Way.allCases.count) ways, \(cells) cells; the fault struck in \(struck). \
        Completions \(completions), one per cell. The wake showed the secret in \(secrets) cells \
        and a generic text or prompt in \(hints). Slowest: \(slowest.formatted()) s (\(slowestCell)). \
        Wrong: \(complaints.count).
        """ + complaints.prefix(60).map { "\n  \($0)" }.joined()
    }

    private static func wrong(_ cell: FaultCell, _ seen: FaultCell.Observation) -> [String] {
        var wrong: [String] = []
        if !seen.struck { wrong.append("the fault did not strike") }
        if seen.completions != 1 { wrong.append("\(seen.completions) completions") }
        if seen.seconds > 28 { wrong.append("\(seen.seconds) s") }
        if seen.shown > 1 { wrong.append("shown \(seen.shown) times") }
        if seen.shown == 0, seen.hints == 0, !cell.looksWronglyTimed { wrong.append("the user sees nothing") }
        if seen.strayRequests > 0 { wrong.append("\(seen.strayRequests) requests to another host") }
        if seen.leaks > 0 { wrong.append("\(seen.leaks) texts that are nobody's") }
        if seen.finallyShown.contains(where: { $0 > (cell.mayForget ? 2 : 1) }) {
            wrong.append("finally shown \(seen.finallyShown)")
        }
        if seen.finallyShown.contains(0) { wrong.append("lost: finally shown \(seen.finallyShown)") }
        return wrong
    }
}

extension FaultCell {
    /// A silent push whose signature seems to be more than 28 days old, or of a time more than a day ahead, is ignored
    /// (contract, section A).
    fileprivate var looksWronglyTimed: Bool {
        [.clockForward, .clockBack].contains(fault) && way != .alert && [.parse, .verify, .store].contains(stage)
    }

    /// Shown IDs are forgotten when the state is damaged. A push that the server repeats then shows the secret again.
    fileprivate var mayForget: Bool { fault == .storeCorrupt }
}
#endif
