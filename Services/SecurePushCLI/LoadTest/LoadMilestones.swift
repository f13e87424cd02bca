/// The progress of a load test where no terminal shows it: a line for each further 10 % that were accepted, and for
/// each further 10 % that were dispatched.
struct LoadMilestones: Sendable {
    private var accepted = 0
    private var dispatched = 0

    /// The lines for what was reached since the last call, at most one of each kind.
    mutating func lines(_ progress: LoadProgress) -> [String] {
        guard progress.total > 0, progress.phase != .preparing else { return [] }
        var lines: [String] = []
        if let percent = LoadMilestones.step(progress.accepted, progress.total, &accepted) {
            let failed = progress.failed > 0 ? "  \(progress.failed.grouped) failed" : ""
            lines.append(
                LoadMilestones.line("accepted", percent, progress.accepted, progress) + progress.speed + failed)
        }
        if let percent = LoadMilestones.step(progress.dispatched, progress.total, &dispatched) {
            lines.append(LoadMilestones.line("dispatched", percent, progress.dispatched, progress))
        }
        return lines
    }

    /// The last full 10 %, if it was not reported yet.
    private static func step(_ done: Int, _ total: Int, _ reported: inout Int) -> Int? {
        let tenths = done * 10 / total
        guard tenths > reported else { return nil }
        reported = tenths
        return tenths * 10
    }

    private static func line(_ word: String, _ percent: Int, _ done: Int, _ progress: LoadProgress) -> String {
        "\(word.padded(to: 12))\(percent)%  \(done.grouped) of \(progress.total.grouped)"
    }
}
