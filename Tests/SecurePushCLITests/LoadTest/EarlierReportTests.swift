import ArgumentParser
import Foundation
import SecurePushCore
import TestSupport
import Testing

@testable import SecurePushCLI

/// `--against`: the file of another time, and perhaps of another person.
@Suite struct EarlierReportTests {
    private static let valid: String = {
        let plan = LoadPlan(count: 10)
        let report = LoadReport(LoadMeasurements(plan).snapshot, plan: plan, interrupted: false)
        return (try? JSONCoding.encode(report)) ?? ""
    }()

    private static func refusal(_ text: String) -> String? {
        do {
            _ = try EarlierReport.parse(text)
            return nil
        } catch {
            return (error as? EarlierReport.Refusal)?.reason ?? "\(error)"
        }
    }

    @Test(arguments: [
        ("", "neither a JSON object"), ("hello", "neither a JSON object"), ("[]", "neither a JSON object"),
        ("{", "not valid JSON"), ("{}", "is missing"), ("{\"Count\":\"x\"}", "wrong type"),
        ("<html>", "neither a JSON object"),
        (EarlierReport.dataBegin + "{}", "ends in its data"),
        (EarlierReport.dataBegin + "{}" + EarlierReport.dataEnd, "is missing"),
        ("{\"Count\":1e999}", "not valid JSON"),
        (String(repeating: "{\"a\":", count: 5000), "not valid JSON"),
    ])
    func `A file that is no report is refused with a reason`(text: String, reason: String) {
        let refusal = Self.refusal(text)
        #expect(refusal?.contains(reason) == true, "\(refusal ?? "accepted")")
    }

    /// Replaces a member of a valid report.
    @Test(arguments: [
        ("\"Count\":10", "\"Count\":-1", "a count is negative"),
        ("\"Count\":10", "\"Count\":10000000000000000", "a count is negative or too large"),
        ("\"AcceptedPerSecond\":0", "\"AcceptedPerSecond\":1e300", "a figure is negative or too large"),
        ("\"IntervalSeconds\":0.01", "\"IntervalSeconds\":0", "at least 1 ms"),
        ("\"IntervalSeconds\":0.01", "\"IntervalSeconds\":1e-300", "at least 1 ms"),
        (
            "\"Timeline\":{\"AcceptP50Milliseconds\":[]", "\"Timeline\":{\"AcceptP50Milliseconds\":[1]",
            "different lengths"
        ),
        ("\"Percents\":[1,", "\"Percents\":[100,", "wrong percents"),
        ("\"Problems\":[]", "\"Problems\":[\"\(String(repeating: "x", count: 20_000))\"]", "too long texts"),
    ])
    func `A report with impossible figures is refused`(member: String, changed: String, reason: String) {
        #expect(Self.refusal(Self.valid) == nil)
        #expect(Self.valid.contains(member), "\(Self.valid)")
        let refusal = Self.refusal(Self.valid.replacing(member, with: changed))
        #expect(refusal?.contains(reason) == true, "\(refusal ?? "accepted")")
    }

    @Test func `Reports of earlier versions lack the newer members`() throws {
        let latency = """
            {"Count":1,"MeanMilliseconds":1,"MaxMilliseconds":1,"P50Milliseconds":1,"P90Milliseconds":1,\
            "P95Milliseconds":1,"P99Milliseconds":1,"P999Milliseconds":1}
            """
        let text = """
            {"AcceptLatency":\(latency),"Accepted":1,"AcceptedPerSecond":1,"Concurrency":1,"Count":1,\
            "DurationSeconds":1,"Failed":0,"Failures":{},"Interrupted":false,"PayloadBytes":1,"Problems":[],\
            "Recipients":1,"Sent":1}
            """
        let earlier = try EarlierReport.parse(text)
        #expect(earlier.timeline == nil && earlier.machine == nil)
        var report = try EarlierReport.parse(Self.valid)
        report.comparison = LoadComparison(report, against: earlier)
        _ = try LoadReportPage(report: report, earlier: earlier).html()
    }

    @Test func `The command names the file, before it sends anything`() async throws {
        try await withTemporaryFolder { folder in
            try Data("no report".utf8).write(to: URL(filePath: "\(folder)/x.json"))
            for arguments in [
                ["--against", "\(folder)/x.json"], ["--against", "\(folder)/none.json"], ["--against", folder],
                ["--report", folder], ["--report", "\(folder)/none/r.html"],
            ] {
                // Nothing listens there: an attempt to send would exit with 69.
                var command = try LoadTestCommand.parse(
                    arguments + ["--ingest-url", "http://127.0.0.1:1", "--json"])
                let error = await #expect(throws: ExitCode.self) { try await command.run() }
                #expect(error?.rawValue == 64, "\(arguments)")
            }
        }
    }
}
