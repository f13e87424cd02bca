import ArgumentParser
import Synchronization

extension HubRebalance {
    /// Runs with its progress. The first signal ends it after the devices in flight, the second one at once.
    func attend(on console: Console) async throws -> RebalanceReport {
        let progress = RebalanceProgress(console)
        defer { progress.line.clear() }
        guard let report = try await stop.attend({ try await run { progress.show($0) } }) else {
            throw ExitCode.interrupted
        }
        return report
    }
}

/// A line that is redrawn on a terminal; elsewhere a line for each further 10 %.
final class RebalanceProgress: Sendable {
    let line: ProgressLine
    private let console: Console
    private let milestone = Mutex(Milestone())

    init(_ console: Console) { (line, self.console) = (ProgressLine(console), console) }

    func show(_ report: RebalanceReport) {
        if console.isJSON { return }
        let (done, total) = report.steps
        if line.isShown {
            if done.isMultiple(of: 20) || done == total { line.show(Self.text(report)) }
        } else if let text = milestone.withLock({ Self.text(report, &$0) }) {
            console.message(text)
        }
    }

    /// The line of the last full 10 %, if it was not reported yet.
    static func text(_ report: RebalanceReport, _ milestone: inout Milestone) -> String? {
        milestone.next(report.steps.done, of: report.steps.total).map { "\($0)%  " + text(report) }
    }

    private static func text(_ report: RebalanceReport) -> String {
        let removed = report.copyOnly ? "" : ", settled \(report.settled.grouped)"
        let failed = report.failed > 0 ? ", \(report.failed.grouped) failed" : ""
        let (done, total) = report.steps
        return "step \(done.grouped) of \(total.grouped): put \(report.put.grouped)\(removed)\(failed)"
    }
}
