import Foundation
import SecurePushCore

/// The results of a load test as one JSON object, with the units in the names.
struct LoadReport: Encodable, Sendable, Equatable {
    struct DispatchPart: Encodable, Sendable, Equatable {
        /// The number of final notifications by status.
        var statuses: [String: Int]
        /// Accepted notifications that were not final at the end of the test.
        var pending: Int
        /// From the first acceptance to the hub's last response.
        var durationSeconds: Double?
        var dispatchedPerSecond: Double?
        /// From the last acceptance to the hub's last response.
        var drainSeconds: Double?
        /// Of a sample: from acceptance to the hub's response for the last platform.
        var latency: LatencySummary

        private enum CodingKeys: String, CodingKey {
            case statuses = "Statuses", pending = "Pending", durationSeconds = "DurationSeconds"
            case dispatchedPerSecond = "DispatchedPerSecond", drainSeconds = "DrainSeconds", latency = "Latency"
        }
    }

    struct ReadPart: Encodable, Sendable, Equatable {
        var devices: Int
        /// Payloads that the devices should read.
        var expected: Int
        /// Payloads that they did not read.
        var missing: Int
        /// Pushes of notifications that were already read.
        var repeated: Int
        var failures: [String: Int]
        /// From acceptance to the payload on the device.
        var latency: LatencySummary

        private enum CodingKeys: String, CodingKey {
            case devices = "Devices", expected = "Expected", missing = "Missing", repeated = "Repeated"
            case failures = "Failures", latency = "Latency"
        }
    }

    var count: Int
    var recipients: Int
    var payloadBytes: Int
    var concurrency: Int
    /// Notifications per request of the batch route; `nil` without it.
    var batch: Int?
    /// The requested rate.
    var ratePerSecond: Int?
    /// Notifications in the requests sent.
    var sent: Int
    var accepted: Int
    var failed: Int
    /// By status or reason.
    var failures: [String: Int]
    /// From the first request to the last response.
    var durationSeconds: Double
    var acceptedPerSecond: Double
    /// From the start of the request, or with a rate from the time when it was due, to the response.
    var acceptLatency: LatencySummary
    var dispatch: DispatchPart?
    var read: ReadPart?
    var problems: [String]
    /// Whether Ctrl-C ended it.
    var interrupted: Bool

    private enum CodingKeys: String, CodingKey {
        case count = "Count", recipients = "Recipients", payloadBytes = "PayloadBytes", concurrency = "Concurrency"
        case batch = "Batch", ratePerSecond = "RatePerSecond", sent = "Sent", accepted = "Accepted", failed = "Failed"
        case failures = "Failures", durationSeconds = "DurationSeconds", acceptedPerSecond = "AcceptedPerSecond"
        case acceptLatency = "AcceptLatency", dispatch = "Dispatch", read = "Read", problems = "Problems"
        case interrupted = "Interrupted"
    }

    init(_ state: LoadMeasurements.State, plan: LoadPlan, interrupted: Bool) {
        let began = state.began ?? .now
        let duration = (state.ended ?? .now) - began
        count = plan.count
        recipients = plan.recipient == nil ? plan.recipients : 1
        payloadBytes = plan.payloadSize
        concurrency = plan.concurrency
        batch = plan.usesBatchRoute ? plan.batch : nil
        ratePerSecond = plan.rate
        sent = state.pacer.given
        accepted = state.ids.count
        failed = state.failed
        failures = state.failures
        durationSeconds = duration.inSeconds.rounded(toPlaces: 3)
        acceptedPerSecond =
            duration > .zero ? (Double(state.ids.count) / duration.inSeconds).rounded(toPlaces: 1) : 0
        acceptLatency = LatencySummary(state.accepted)
        dispatch = plan.waits ? LoadReport.dispatch(state) : nil
        read = plan.devices > 0 ? LoadReport.read(state.reads, plan) : nil
        problems = state.problems
        self.interrupted = interrupted
    }

    /// Whether everything was sent, accepted, dispatched and read.
    var isSuccess: Bool {
        let isDispatched = dispatch.map { dispatch in
            let bad: [NotificationStatus] = [.failed, .partial]
            return dispatch.pending == 0 && !bad.contains { dispatch.statuses[$0.rawValue, default: 0] > 0 }
        }
        let isRead = read.map { $0.failures.isEmpty && ($0.missing == 0 || dispatch == nil) }
        return accepted == count && problems.isEmpty && isDispatched ?? true && isRead ?? true
    }

    private static func dispatch(_ state: LoadMeasurements.State) -> DispatchPart {
        let figures = state.dispatch
        let statuses = (figures.statuses ?? [:]).map { ($0.key.rawValue, $0.value) }
        return DispatchPart(
            statuses: Dictionary(uniqueKeysWithValues: statuses), pending: figures.pending ?? state.ids.count,
            durationSeconds: figures.duration?.inSeconds,
            dispatchedPerSecond: figures.perSecond?.rounded(toPlaces: 1), drainSeconds: figures.drain?.inSeconds,
            latency: LatencySummary(figures.latency))
    }

    private static func read(_ figures: ReadFigures, _ plan: LoadPlan) -> ReadPart {
        ReadPart(
            devices: plan.devices, expected: figures.expected, missing: figures.missing, repeated: figures.repeated,
            failures: figures.failures, latency: LatencySummary(figures.latency))
    }
}

extension LoadReport {
    /// For people: the facts, then the latencies as a table.
    func text(styled: (String, Style) -> String) -> [String] {
        var facts: [(String, String)] = [("sent", sentLine), ("accepted", acceptedLine)]
        if failed > 0 { facts.append(("failed", styled(LoadReport.counts(failures), .red))) }
        if let dispatch { facts += LoadReport.facts(of: dispatch, styled) }
        if let read { facts += LoadReport.facts(of: read, styled) }
        if interrupted { facts.append(("", styled("interrupted: the figures cover the time until then", .yellow))) }
        for problem in problems { facts.append(("problem", styled(problem.printable, .red))) }
        return facts.map { $0.0.padded(to: 12) + $0.1 } + [""] + table(styled)
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
        var table = TextTable()
        table.add(["latency, ms"] + LatencySummary.heads)
        table.add(["accept"] + acceptLatency.cells)
        if let dispatch, dispatch.latency.count > 0 { table.add(["dispatch"] + dispatch.latency.cells) }
        if let read, read.latency.count > 0 { table.add(["read"] + read.latency.cells) }
        let lines = table.lines
        return [styled(lines[0], .bold)] + lines.dropFirst()
    }
}

/// The summary of a histogram in milliseconds: mean, maximum and the usual percentiles.
struct LatencySummary: Encodable, Sendable, Equatable {
    static let percentiles = [50, 90, 95, 99, 99.9]

    var count: Int
    var mean: Double
    /// In the order of ``percentiles``.
    var values: [Double]
    var maximum: Double

    init(_ histogram: LatencyHistogram) {
        count = histogram.count
        mean = (histogram.mean / 1000).rounded(toPlaces: 3)
        values = LatencySummary.percentiles.map { Double(histogram.percentile($0)) / 1000 }
        maximum = Double(histogram.maximum) / 1000
    }

    private enum CodingKeys: String, CodingKey {
        case count = "Count", mean = "MeanMilliseconds", maximum = "MaxMilliseconds"
        case p50 = "P50Milliseconds", p90 = "P90Milliseconds", p95 = "P95Milliseconds"
        case p99 = "P99Milliseconds", p999 = "P999Milliseconds"
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

    /// The headers of ``cells``.
    static let heads = ["n", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]

    /// The cells of a table, in milliseconds.
    var cells: [String] {
        [count.grouped] + ([mean] + values + [maximum]).map(LatencySummary.text)
    }

    /// Milliseconds with about three significant digits.
    static func text(_ milliseconds: Double) -> String {
        switch milliseconds {
        case ..<10: String(format: "%.2f", milliseconds)
        case ..<100: String(format: "%.1f", milliseconds)
        default: Int(milliseconds.rounded()).grouped
        }
    }
}
