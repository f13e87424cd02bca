extension LoadReport {
    /// For people: what was done, what came of it, and the latencies as a table.
    func text(styled: (String, Style) -> String) -> [String] {
        var facts: [(String, String)] = [("sent", sentLine), ("accepted", acceptedLine)]
        if Failed > 0 { facts.append(("failed", styled(LoadReport.counts(Failures), .red))) }
        if let Dispatch { facts += LoadReport.facts(of: Dispatch, styled) }
        if let Read { facts += LoadReport.facts(of: Read, styled) }
        if Interrupted { facts.append(("", styled("interrupted: figures are of what was done until then", .yellow))) }
        for problem in Problems { facts.append(("problem", styled(problem.printable, .red))) }
        return facts.map { $0.0.padded(to: 12) + $0.1 } + [""] + table(styled)
    }

    private var sentLine: String {
        let users = Recipients == 1 ? "1 user" : "\(Recipients.grouped) users"
        let pace = RatePerSecond.map { "at \($0.grouped)/s" } ?? "flat out"
        let requests = Batch.map { "batches of \($0.grouped), " } ?? ""
        return "\(Sent.grouped) of \(Count.grouped) to \(users), \(PayloadBytes.grouped) bytes each, \(pace), "
            + "\(requests)\(Concurrency) in flight"
    }

    private var acceptedLine: String {
        "\(Accepted.grouped) in \(Duration.seconds(DurationSeconds).spoken): \(AcceptedPerSecond.figure)/s"
    }

    private static func facts(
        of dispatch: DispatchPart, _ styled: (String, Style) -> String
    ) -> [(String, String)] {
        var words: [String] = []
        if let seconds = dispatch.DurationSeconds, let rate = dispatch.DispatchedPerSecond {
            let ended = dispatch.Statuses.values.reduce(0, +)
            words.append("\(ended.grouped) in \(Duration.seconds(seconds).spoken): \(rate.figure)/s")
        }
        if !dispatch.Statuses.isEmpty { words.append("(\(counts(dispatch.Statuses)))") }
        var facts = [("dispatched", words.isEmpty ? "not counted" : words.joined(separator: " "))]
        if let drain = dispatch.DrainSeconds {
            facts.append(("drained", "\(Duration.seconds(drain).spoken) after the last was accepted"))
        }
        if dispatch.Pending > 0 {
            facts.append(("pending", styled("\(dispatch.Pending.grouped) were not seen at their end", .yellow)))
        }
        return facts
    }

    private static func facts(of read: ReadPart, _ styled: (String, Style) -> String) -> [(String, String)] {
        let devices = read.Devices == 1 ? "1 device" : "\(read.Devices.grouped) devices"
        let repeated = read.Repeated > 0 ? ", \(read.Repeated.grouped) pushed again" : ""
        var facts = [
            ("read", "\(read.Latency.count.grouped) of \(read.Expected.grouped) by \(devices)\(repeated)")
        ]
        if !read.Failures.isEmpty { facts.append(("not read", styled(counts(read.Failures), .red))) }
        if read.Missing > 0 {
            facts.append(("missing", styled("\(read.Missing.grouped) did not come", .yellow)))
        }
        return facts
    }

    /// `12 × 503, 3 × no answer in time`, the most frequent first.
    private static func counts(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value.grouped) × \($0.key.printable)" }.joined(separator: ", ")
    }

    private func table(_ styled: (String, Style) -> String) -> [String] {
        var table = TextTable()
        table.add(["latency, ms"] + LatencySummary.heads)
        table.add(["accept"] + AcceptLatency.cells)
        if let Dispatch, Dispatch.Latency.count > 0 { table.add(["dispatch"] + Dispatch.Latency.cells) }
        if let Read, Read.Latency.count > 0 { table.add(["read"] + Read.Latency.cells) }
        let lines = table.lines
        return [styled(lines[0], .bold)] + lines.dropFirst()
    }
}
