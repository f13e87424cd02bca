import Crypto
import Foundation
import SecurePushCore
import Testing

@testable import SecurePushCLI

@Suite struct LoadReportPageTests {
    /// The report of a test against a fake service.
    private static func report(
        count: Int = 200, latency: Duration = .milliseconds(40), failure: String? = nil
    ) async throws -> LoadReport {
        var behavior = FakeIngest.Behavior()
        behavior.latency = latency
        if let failure { behavior.failure = { $0 == 3 ? failure : nil } }
        let plan = LoadPlan(count: count, concurrency: 3)
        let measurements = LoadMeasurements(plan)
        try await LoadRun(target: FakeIngest(behavior), measurements: measurements, stop: StopRequest()).run()
        return LoadReport(
            measurements.snapshot, plan: plan, interrupted: false, machine: .init(version: "1.2.3"))
    }

    @Test func `The page holds all plots, each with a title, a description and a table`() async throws {
        let html = try LoadReportPage(report: try await Self.report()).html()
        for title in [
            "Throughput", "Backlog", "Latency until accepted", "Latency until dispatched",
            "Distribution of the latencies",
        ] { #expect(html.contains("<h2>\(title)</h2>"), "\(title)") }
        #expect(html.matches(of: /<svg viewBox="[^"]*" role="img" aria-labelledby=/).count == 5)
        #expect(html.matches(of: /<title id="plot-\d-title">[^<]+<\/title>/).count == 5)
        #expect(html.matches(of: /<desc id="plot-\d-desc">[^<]+<\/desc>/).count == 5)
        #expect(html.matches(of: /<summary>Values<\/summary>/).count == 5)
        #expect(html.contains("200 of 200 notifications were accepted, and 200 dispatched."))
        #expect(html.contains("There were none."))
        #expect(html.contains("prefers-color-scheme: dark"))
        #expect(!html.contains("NaN") && !html.contains("inf "))
    }

    @Test func `A bad result says why`() async throws {
        var report = try await Self.report()
        report.dispatch?.statuses = ["dispatched": 190, "partial": 8, "failed": 2]
        let html = try LoadReportPage(report: report).html()
        #expect(
            html.contains(
                "<p class=\"verdict bad\">200 of 200 notifications were accepted, and 200 dispatched. "
                    + "2 failed on every platform. 8 failed on some platforms.</p>"))
    }

    @Test func `It loads nothing, runs nothing, and its policy allows its own style only`() async throws {
        let html = try LoadReportPage(report: try await Self.report()).html()
        let style = try #require(html.firstMatch(of: /<style>([\s\S]*?)<\/style>/)?.output.1)
        let hash = Data(SHA256.hash(data: Data(String(style).utf8))).base64EncodedString()
        #expect(
            html.contains(
                "content=\"default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'\""))
        #expect(html.matches(of: /\b(src|href)=/).isEmpty)
        #expect(html.matches(of: #/ style=| on[a-z]+="|url\(|@import/#).isEmpty)
        #expect(html.matches(of: /<script/).count == 1)
    }

    @Test func `Texts from outside are escaped everywhere`() async throws {
        let attack = "</script><script>alert(1)</script><img src=x onerror='a'>&\"\u{1B}"
        var report = try await Self.report(failure: attack)
        report.problems = [attack]
        report.startedAt = attack
        report.machine?.processor = attack
        report.dispatch?.statuses[attack] = 1
        var earlier = try await Self.report()
        earlier.startedAt = attack
        report.comparison = LoadComparison(report, against: earlier)
        let html = try LoadReportPage(report: report, earlier: earlier).html()
        #expect(html.matches(of: /<script/).count == 1)
        #expect(html.matches(of: /<\/script>/).count == 1)
        #expect(!html.contains("<img"))
        #expect(html.contains("&lt;script&gt;alert(1)"))
        // The data survive it.
        #expect(try EarlierReport.parse(html).problems == [attack])
    }

    /// U+0600 and the `<` after it are one character, so a search by character does not find the `<`.
    @Test func `A scalar that joins the next one hides no markup`() async throws {
        var report = try await Self.report()
        report.problems = ["\u{600}</script>\u{600}<script>alert(1)"]
        let html = try LoadReportPage(report: report).html()
        for (markup, count) in [("<script", 1), ("</script", 1)] {
            #expect(html.unicodeScalars.ranges(of: markup.unicodeScalars).count == count, "\(markup)")
        }
        #expect(try EarlierReport.parse(html).problems == report.problems)
    }

    @Test func `The page and the JSON can be read again`() async throws {
        let report = try await Self.report(failure: "503")
        let html = try LoadReportPage(report: report).html()
        #expect(try EarlierReport.parse(html) == report)
        #expect(try EarlierReport.parse(try JSONCoding.encode(report) + "\n") == report)
    }

    @Test func `Against an earlier test the lines lie beneath, and the figures say how they changed`() async throws {
        let earlier = try await Self.report(latency: .milliseconds(20))
        var report = try await Self.report(latency: .milliseconds(40))
        report.comparison = LoadComparison(report, against: earlier)
        let line = try #require(report.comparison?.lines.first { $0.name == "dispatch p99, ms" })
        #expect(line.words == "slower by 100 %")
        #expect(line.ratio == 2)
        let html = try LoadReportPage(report: report, earlier: earlier).html()
        #expect(html.contains("class=\"line1 earlier\""))
        #expect(html.contains("dispatch p50, earlier"))
        #expect(html.contains("<td class=\"bad\">slower by 100 %</td>"))
        let text = report.text { text, _ in text }
        #expect(text.contains { $0.hasPrefix("dispatch p99, ms") && $0.hasSuffix("slower by 100 %") })
    }

    @Test func `A test in which nothing was accepted has a page, too`() throws {
        let plan = LoadPlan(count: 10)
        let report = LoadReport(LoadMeasurements(plan).snapshot, plan: plan, interrupted: true)
        let html = try LoadReportPage(report: report).html()
        #expect(html.contains("0 of 10 notifications were accepted"))
        #expect(try EarlierReport.parse(html) == report)
    }
}

@Suite struct LoadComparisonTests {
    @Test(arguments: [
        (1000.0, 970.0, "the same"), (1000, 1030, "the same"), (1000, 1030.1, "slower by 3.0 %"), (100, 97, "the same"),
        (100, 103, "the same"), (0.1, 0.103, "the same"), (0.7, 0.679, "the same"), (1000, 1120, "slower by 12 %"),
        (1000, 500, "faster by 50 %"), (10, 10.5, "slower by 5.0 %"), (1, 3, "slower by 200 %"), (0, 0, "the same"),
        (0, 5, "it was 0"), (5, 0, "faster by 100 %"),
    ])
    func `Differences of times in words`(earlier: Double, now: Double, words: String) {
        #expect(LoadComparison.words(.time, earlier: earlier, now: now) == words)
    }

    @Test(arguments: [(1000.0, 880.0, "lower by 12 %"), (1000, 1120, "higher by 12 %"), (1000, 970, "the same")])
    func `Differences of rates in words`(earlier: Double, now: Double, words: String) {
        #expect(LoadComparison.words(.rate, earlier: earlier, now: now) == words)
    }

    @Test(arguments: [
        (LoadComparison.Kind.time, 1.0, 2.0, -1), (.time, 2, 1, 1), (.rate, 1, 2, 1), (.rate, 2, 1, -1),
        (.rate, 100, 101, 0),
    ])
    func `More time is worse, a higher rate is better`(
        kind: LoadComparison.Kind, earlier: Double, now: Double, change: Int
    ) {
        #expect(LoadComparison.Line("x", kind, earlier: earlier, now: now).change == change)
    }

    @Test(arguments: [(0.0, 5.0, nil), (.leastNonzeroMagnitude, 5, nil), (2, 5, 2.5)] as [(Double, Double, Double?)])
    func `A ratio is a number that JSON can hold`(earlier: Double, now: Double, ratio: Double?) throws {
        let line = LoadComparison.Line("x", .time, earlier: earlier, now: now)
        #expect(line.ratio == ratio)
        #expect(try !JSONCoding.encode(line).isEmpty)
    }

    @Test func `Different plans are named`() {
        func report(_ plan: LoadPlan) -> LoadReport {
            LoadReport(LoadMeasurements(plan).snapshot, plan: plan, interrupted: false)
        }
        let comparison = LoadComparison(report(LoadPlan(count: 2000, rate: 5)), against: report(LoadPlan(count: 1000)))
        #expect(
            comparison.differences == [
                "The notifications differ: 1,000 then, 2,000 now.", "The rate per second differ: none then, 5 now.",
            ])
    }
}
