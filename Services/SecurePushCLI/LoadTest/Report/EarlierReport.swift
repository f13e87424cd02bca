import Foundation
import SecurePushCore

/// Reads the report of an earlier load test: the output of `--json`, or an HTML page of `--report`, which contains the
/// same object.
enum EarlierReport {
    /// The maximum size of the file, in bytes. A report of ours has less than 100 KiB.
    static let maxBytes = 8 << 20
    private static let maxNumber = 1e15
    private static let maxIntervals = 1000
    private static let maxTexts = 1000

    /// The begin and the end of the data in a page.
    static let dataBegin = #"<script type="application/json" id="report-data">"#
    static let dataEnd = "</script>"

    /// - Throws: ``CommandFailure`` with code `usage` that says what is wrong with the file.
    static func read(_ path: String) throws -> LoadReport {
        do {
            return try parse(try FileContent(path: path, maxBytes: maxBytes).text)
        } catch let error as FileError {
            throw CommandFailure(.usage, "--against: \(error)")
        } catch let refusal as Refusal {
            throw CommandFailure(
                .usage, "--against: \(path.printable) cannot be used: \(refusal.reason)",
                hint: "Name a file with the output of `securepush load-test --json`, or a page of --report.")
        }
    }

    struct Refusal: Error, Equatable {
        var reason: String
    }

    /// - Throws: ``Refusal``.
    static func parse(_ text: String) throws -> LoadReport {
        let json = try data(in: text)
        guard json.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
            throw Refusal(reason: "it is neither a JSON object nor a page of a load test.")
        }
        var report: LoadReport
        do {
            report = try JSONCoding.decode(LoadReport.self, from: json)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw Refusal(reason: "the member \(name(context.codingPath + [key])) is missing.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw Refusal(reason: "the member \(name(context.codingPath)) has a wrong type.")
        } catch {
            throw Refusal(reason: "it is not valid JSON.")
        }
        try check(report)
        report.comparison = nil
        return report
    }

    private static func data(in text: String) throws -> String {
        guard let begin = text.firstRange(of: dataBegin) else { return text }
        let rest = text[begin.upperBound...]
        guard let end = rest.firstRange(of: dataEnd) else { throw Refusal(reason: "the page ends in its data.") }
        return String(rest[..<end.lowerBound])
    }

    private static func name(_ path: [any CodingKey]) -> String {
        let text = path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
        return String(text.oneLine.prefix(100))
    }

    // MARK: Bounds

    private static func check(_ report: LoadReport) throws {
        var counts = [report.count, report.recipients, report.payloadBytes, report.concurrency, report.sent]
        counts += [report.accepted, report.failed, report.batch ?? 0, report.ratePerSecond ?? 0]
        counts += report.failures.values
        try check("a count", counts)
        try check("a figure", [report.durationSeconds, report.acceptedPerSecond])
        try check("AcceptLatency", report.acceptLatency)
        var texts = Array(report.failures.keys)
        texts += report.problems
        texts.append(report.startedAt ?? "")
        try checkTexts(texts)
        if let dispatch = report.dispatch {
            try check(
                "a figure of Dispatch",
                [dispatch.durationSeconds ?? 0, dispatch.dispatchedPerSecond ?? 0, dispatch.drainSeconds ?? 0])
            try check("Dispatch.Latency", dispatch.latency)
            try check("a count of Dispatch", [dispatch.pending] + dispatch.statuses.values)
            try checkTexts(Array(dispatch.statuses.keys))
        }
        if let read = report.read {
            try check("a count of Read", [read.devices, read.expected, read.missing, read.repeated])
            try check("Read.Latency", read.latency)
            try checkTexts(Array(read.failures.keys))
        }
        if let machine = report.machine { try check("a count of Machine", [machine.processors, machine.memoryBytes]) }
        if let timeline = report.timeline { try check(timeline) }
        if let distributions = report.distributions { try check(distributions) }
    }

    private static func check(_ timeline: LoadReport.Timeline) throws {
        let count = timeline.accepted.count
        // Rates are divided by the interval. The shortest of ours is 10 ms.
        guard count <= maxIntervals, timeline.intervalSeconds >= 0.001 else {
            throw Refusal(reason: "Timeline needs 0 to \(maxIntervals) intervals of at least 1 ms.")
        }
        try check("IntervalSeconds", [timeline.intervalSeconds])
        try check("a count of Timeline", timeline.accepted + timeline.failed)
        let optional = [timeline.dispatchP50, timeline.dispatchP99, timeline.readP50, timeline.readP99]
        let latencies = [timeline.acceptP50, timeline.acceptP99] + optional.compactMap { $0 }
        let amounts = [timeline.dispatched, timeline.backlog].compactMap { $0 }
        try check("a latency of Timeline", latencies.flatMap { $0.compactMap { $0 } })
        try check("an amount of Timeline", amounts.flatMap { $0 })
        let counts = [timeline.failed.count] + latencies.map(\.count) + amounts.map(\.count)
        guard counts.allSatisfy({ $0 == count }) else {
            throw Refusal(reason: "the lists of Timeline have different lengths.")
        }
    }

    private static func check(_ distributions: LoadReport.Distributions) throws {
        let percents = distributions.percents
        let lists = [distributions.accept, distributions.dispatch, distributions.read].compactMap { $0 }
        guard percents.count <= maxIntervals, percents.allSatisfy({ $0 >= 0 && $0 < 100 }),
            percents == percents.sorted(), lists.allSatisfy({ $0.count == percents.count })
        else { throw Refusal(reason: "the lists of Distributions have wrong percents or different lengths.") }
        try check("a latency of Distributions", lists.flatMap { $0 })
    }

    private static func check(_ name: String, _ summary: LatencySummary) throws {
        try check(name, [summary.count])
        try check(name, [summary.mean, summary.maximum] + summary.values)
    }

    private static func check(_ name: String, _ numbers: [Int]) throws {
        guard numbers.allSatisfy({ $0 >= 0 && Double($0) <= maxNumber }) else {
            throw Refusal(reason: "\(name) is negative or too large.")
        }
    }

    private static func check(_ name: String, _ numbers: [Double]) throws {
        guard numbers.allSatisfy({ $0 >= 0 && $0 <= maxNumber }) else {
            throw Refusal(reason: "\(name) is negative or too large.")
        }
    }

    private static func checkTexts(_ texts: [String]) throws {
        guard texts.count <= maxTexts, texts.allSatisfy({ $0.utf8.count <= 10_000 }) else {
            throw Refusal(reason: "it has too many or too long texts.")
        }
    }
}
