extension LoadReport {
    /// For people: the facts, then the latencies as a table.
    func text(styled: (String, Style) -> String) -> [String] {
        var facts: [(String, String)] = [("sent", sentLine), ("accepted", acceptedLine)]
        if failed > 0 { facts.append(("failed", styled(LoadReport.counts(failures), .red))) }
        if let dispatch { facts += LoadReport.facts(of: dispatch, styled) }
        if let read { facts += LoadReport.facts(of: read, styled) }
        if interrupted { facts.append(("interrupted", styled(interruptedLine, .yellow))) }
        for problem in problems { facts.append(("problem", styled(problem.printable, .red))) }
        return facts.map { $0.0.padded(to: 12) + $0.1 } + [""] + table(styled)
    }

    /// What became of the notifications in flight.
    var interruptedLine: String {
        guard let interruption else { return "the figures cover the time until then" }
        let unknown =
            interruption.unknown > 0 ? ", \(interruption.unknown.grouped) without an answer may have been accepted" : ""
        return "\(interruption.inFlight.grouped) were in flight, \(interruption.answered.grouped) of them were answered"
            + unknown
    }

    private var sentLine: String {
        let users = recipients == 1 ? "1 user" : "\(recipients.grouped) users"
        let pace = ratePerSecond.map { "at \($0.grouped)/s" } ?? "flat out"
        let requests = batch.map { "batches of \($0.grouped), " } ?? ""
        return "\(sent.grouped) of \(count.grouped) to \(users), \(payloadBytes.grouped) bytes each, \(pace), "
            + "\(requests)\(concurrency) in flight"
    }

    private var acceptedLine: String {
        "\(accepted.grouped) in \(Duration.seconds(durationSeconds).spoken): \(acceptedPerSecond.figure)/s"
    }

    private static func facts(
        of dispatch: DispatchPart, _ styled: (String, Style) -> String
    ) -> [(String, String)] {
        var words: [String] = []
        if let seconds = dispatch.durationSeconds, let rate = dispatch.dispatchedPerSecond {
            let ended = dispatch.statuses.values.reduce(0, +)
            words.append("\(ended.grouped) in \(Duration.seconds(seconds).spoken): \(rate.figure)/s")
        }
        if !dispatch.statuses.isEmpty { words.append("(\(counts(dispatch.statuses)))") }
        var facts = [("dispatched", words.isEmpty ? "not counted" : words.joined(separator: " "))]
        if let drain = dispatch.drainSeconds {
            facts.append(("drained", "\(Duration.seconds(drain).spoken) after the last was accepted"))
        }
        if dispatch.pending > 0 {
            facts.append(("pending", styled("\(dispatch.pending.grouped) were not dispatched in time", .yellow)))
        }
        return facts
    }

    private static func facts(of read: ReadPart, _ styled: (String, Style) -> String) -> [(String, String)] {
        let devices = read.devices == 1 ? "1 device" : "\(read.devices.grouped) devices"
        let repeated = read.repeated > 0 ? ", \(read.repeated.grouped) pushed again" : ""
        var facts = [
            ("read", "\(read.latency.count.grouped) of \(read.expected.grouped) by \(devices)\(repeated)")
        ]
        if !read.failures.isEmpty { facts.append(("not read", styled(counts(read.failures), .red))) }
        if read.missing > 0 {
            facts.append(("missing", styled("\(read.missing.grouped) did not arrive", .yellow)))
        }
        return facts
    }

    /// `12 × 503, 3 × no answer in time`, the most frequent first.
    private static func counts(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value.grouped) × \($0.key.printable)" }.joined(separator: ", ")
    }

    private func table(_ styled: (String, Style) -> String) -> [String] {
        var rows = [(name: "accept", latency: acceptLatency)]
        if let dispatch, dispatch.latency.count > 0 { rows.append(("dispatch", dispatch.latency)) }
        if let read, read.latency.count > 0 { rows.append(("read", read.latency)) }
        var table = Table([Column("latency, ms") { $0.name }] + LatencySummary.columns)
        let lines = table.lines(rows)
        return [styled(lines[0], .bold)] + lines.dropFirst()
    }
}
