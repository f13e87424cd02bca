import SecurePushCore
import Synchronization
import UnixSignals

/// A rebalance with its progress. The first signal ends it after the devices in flight, the second one at once.
struct RebalanceRun: Sendable {
    private let rebalance: HubRebalance

    init(_ rebalance: HubRebalance) { self.rebalance = rebalance }

    func attend(on console: Console) async throws -> RebalanceReport {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let progress = RebalanceProgress(console)
        defer { progress.line.clear() }
        return try await withThrowingTaskGroup(of: RebalanceReport?.self) { group in
            group.addTask { try await rebalance.run { progress.show($0) } }
            group.addTask {
                for await _ in signals where !rebalance.stop.request() { throw HubsCommand.interrupted }
                return nil
            }
            defer { group.cancelAll() }
            while let report = try await group.next() { if let report { return report } }
            throw HubsCommand.interrupted
        }
    }
}

/// A line that is redrawn on a terminal; elsewhere a line for each further 10 %.
struct RebalanceProgress: Sendable {
    let line: ProgressLine
    private let console: Console
    private let reported: Box

    private final class Box: Sendable {
        let tenths = Mutex(0)
    }

    init(_ console: Console) {
        line = ProgressLine(console)
        self.console = console
        reported = Box()
    }

    func show(_ report: RebalanceReport) {
        if console.isJSON { return }
        let (done, total) = report.steps
        if line.isShown {
            if done.isMultiple(of: 20) || done == total { line.show(Self.text(report)) }
        } else if let text = reported.tenths.withLock({ Self.milestone(report, &$0) }) {
            console.message(text)
        }
    }

    /// The line of the last full 10 %, if it was not reported yet.
    static func milestone(_ report: RebalanceReport, _ reported: inout Int) -> String? {
        let (done, total) = report.steps
        guard total > 0 else { return nil }
        let tenths = done * 10 / total
        guard tenths > reported else { return nil }
        reported = tenths
        return "\(tenths * 10)%  " + text(report)
    }

    private static func text(_ report: RebalanceReport) -> String {
        let removed = report.copyOnly ? "" : ", settled \(report.settled.grouped)"
        let failed = report.failed > 0 ? ", \(report.failed.grouped) failed" : ""
        let (done, total) = report.steps
        return "step \(done.grouped) of \(total.grouped): put \(report.put.grouped)\(removed)\(failed)"
    }
}
