import Foundation
import SecurePushCore

/// What a load test has found out, as one JSON object; units are in the names.
struct LoadReport: Encodable, Sendable, Equatable {
    struct DispatchPart: Encodable, Sendable, Equatable {
        /// How many have ended how, all of them counted.
        var Statuses: [String: Int]
        /// Accepted, and not at the end of their dispatch when waiting was given up.
        var Pending: Int
        /// From the first acceptance to the hub's last answer.
        var DurationSeconds: Double?
        var DispatchedPerSecond: Double?
        /// From the last acceptance to the hub's last answer.
        var DrainSeconds: Double?
        /// From acceptance to the hub's answer for the last platform; of a sample.
        var Latency: LatencySummary
    }

    struct ReadPart: Encodable, Sendable, Equatable {
        var Devices: Int
        /// Payloads that the devices should read.
        var Expected: Int
        /// Those that did not come.
        var Missing: Int
        /// Pushes of what had been read before.
        var Repeated: Int
        var Failures: [String: Int]
        /// From acceptance to the payload on the device.
        var Latency: LatencySummary
    }

    var Count: Int
    var Recipients: Int
    var PayloadBytes: Int
    var Concurrency: Int
    /// Notifications a request, where the batch route was used.
    var Batch: Int?
    /// As asked for.
    var RatePerSecond: Int?
    /// Given to a request.
    var Sent: Int
    var Accepted: Int
    var Failed: Int
    /// By status or reason.
    var Failures: [String: Int]
    /// From the first request to the last answer.
    var DurationSeconds: Double
    var AcceptedPerSecond: Double
    /// From the request's begin, or from when it should have begun at the rate asked for, to the answer.
    var AcceptLatency: LatencySummary
    var Dispatch: DispatchPart?
    var Read: ReadPart?
    var Problems: [String]
    /// Whether Ctrl-C ended it.
    var Interrupted: Bool

    init(_ state: LoadLedger.State, plan: LoadPlan, interrupted: Bool) {
        let began = state.began ?? .now
        let duration = (state.ended ?? .now) - began
        Count = plan.count
        Recipients = plan.recipient == nil ? plan.recipients : 1
        PayloadBytes = plan.payloadSize
        Concurrency = plan.concurrency
        Batch = plan.usesBatchRoute ? plan.batch : nil
        RatePerSecond = plan.rate
        Sent = state.pacer.given
        Accepted = state.ids.count
        Failed = state.failed
        Failures = state.failures
        DurationSeconds = duration.inSeconds.rounded(toPlaces: 3)
        AcceptedPerSecond =
            duration > .zero ? (Double(state.ids.count) / duration.inSeconds).rounded(toPlaces: 1) : 0
        AcceptLatency = LatencySummary(state.accepted)
        Dispatch = plan.waits ? LoadReport.dispatch(state) : nil
        Read = plan.devices > 0 ? LoadReport.read(state.reads, plan) : nil
        Problems = state.problems
        Interrupted = interrupted
    }

    /// Whether everything was sent, accepted, dispatched and read.
    var isSuccess: Bool {
        let isDispatched = Dispatch.map { dispatch in
            let bad: [NotificationStatus] = [.failed, .partial]
            return dispatch.Pending == 0 && !bad.contains { dispatch.Statuses[$0.rawValue, default: 0] > 0 }
        }
        let isRead = Read.map { $0.Failures.isEmpty && ($0.Missing == 0 || Dispatch == nil) }
        return Accepted == Count && Problems.isEmpty && isDispatched ?? true && isRead ?? true
    }

    private static func dispatch(_ state: LoadLedger.State) -> DispatchPart {
        let figures = state.dispatch
        let statuses = (figures.statuses ?? [:]).map { ($0.key.rawValue, $0.value) }
        return DispatchPart(
            Statuses: Dictionary(uniqueKeysWithValues: statuses), Pending: figures.pending ?? state.ids.count,
            DurationSeconds: figures.duration?.inSeconds,
            DispatchedPerSecond: figures.perSecond?.rounded(toPlaces: 1), DrainSeconds: figures.drain?.inSeconds,
            Latency: LatencySummary(figures.latency))
    }

    private static func read(_ figures: ReadFigures, _ plan: LoadPlan) -> ReadPart {
        ReadPart(
            Devices: plan.devices, Expected: figures.expected, Missing: figures.missing, Repeated: figures.repeated,
            Failures: figures.failures, Latency: LatencySummary(figures.latency))
    }
}

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

/// What is told of a histogram of microseconds: milliseconds at the usual percentiles.
struct LatencySummary: Encodable, Sendable, Equatable {
    static let percentiles = [50, 90, 95, 99, 99.9]

    var count: Int
    /// In milliseconds, as are the others.
    var mean: Double
    /// In the order of ``percentiles``.
    var values: [Double]
    var maximum: Double

    init(_ histogram: HdrHistogram) {
        count = histogram.count
        mean = (histogram.mean / 1000).rounded(toPlaces: 3)
        values = LatencySummary.percentiles.map { Double(histogram.percentile($0)) / 1000 }
        maximum = Double(histogram.maximum) / 1000
    }

    private enum CodingKeys: String, CodingKey {
        case count = "Count"
        case mean = "MeanMilliseconds"
        case p50 = "P50Milliseconds"
        case p90 = "P90Milliseconds"
        case p95 = "P95Milliseconds"
        case p99 = "P99Milliseconds"
        case p999 = "P999Milliseconds"
        case maximum = "MaxMilliseconds"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(mean, forKey: .mean)
        for (key, value) in zip([CodingKeys.p50, .p90, .p95, .p99, .p999], values) {
            try container.encode(value, forKey: key)
        }
        try container.encode(maximum, forKey: .maximum)
    }

    /// The heads of the columns of ``cells``.
    static let heads = ["n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]

    /// The figures for a table, in milliseconds.
    var cells: [String] {
        [count.grouped] + ([mean] + values + [maximum]).map(LatencySummary.text)
    }

    /// Milliseconds with as many decimals as say something.
    static func text(_ milliseconds: Double) -> String {
        switch milliseconds {
        case ..<10: String(format: "%.2f", milliseconds)
        case ..<100: String(format: "%.1f", milliseconds)
        default: Int(milliseconds.rounded()).grouped
        }
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let factor = pow(10, Double(places))
        return (self * factor).rounded() / factor
    }
}
