import Foundation

/// The plots of a load test's page, each with the table of its values. The lines of an earlier test lie beneath.
struct LoadReportPlots: Sendable {
    let report: LoadReport
    let earlier: LoadReport?

    var html: String {
        let plots = [throughput, backlog] + latencies + [distribution]
        let figures = plots.compactMap { $0 }.enumerated().map { index, plot in LoadReportPlots.figure(plot, index) }
        return "<div class=\"plots\">\n\(figures.joined())</div>"
    }

    private static func figure(_ plot: LinePlot, _ index: Int) -> String {
        """
        <figure>
        <h2>\(HTML.escape(plot.title))</h2>
        <p class="soft">\(HTML.escape(plot.summary))</p>
        \(plot.legend)<div class="plot">\(plot.svg(id: "plot-\(index)"))</div>
        <details><summary>Values</summary><div class="scroll" tabindex="0">\(table(plot))</div></details>
        </figure>

        """
    }

    /// One row per place on the x axis.
    private static func table(_ plot: LinePlot) -> String {
        var rows: [Double: [Int: Double]] = [:]
        for (column, line) in plot.series.enumerated() {
            for point in line.points { rows[point.x, default: [:]][column] = point.y }
        }
        let cells = rows.keys.sorted().map { x in
            [LinePlot.label(x)] + plot.series.indices.map { rows[x]?[$0].map(LinePlot.label) ?? "" }
        }
        let head = [plot.xLabel] + plot.series.map(\.name)
        return HTML.table("\(plot.title), \(plot.yLabel)", [head] + cells)
    }

    // MARK: Over time

    /// The end of the time axis, in seconds.
    private var end: Double {
        [report.timeline, earlier?.timeline].compactMap { $0 }
            .map { Double($0.accepted.count) * $0.intervalSeconds }.max() ?? 0
    }

    private func overTime(
        _ title: String, _ summary: String, unit: String, _ series: [LinePlot.Series]
    ) -> LinePlot? {
        let drawn = series.filter { !$0.points.isEmpty }
        guard !drawn.isEmpty, drawn.contains(where: { !$0.isEarlier }) else { return nil }
        return LinePlot(
            title: title, summary: summary, xLabel: "seconds since the start", yLabel: unit, x: PlotScale(upTo: end),
            y: PlotScale(linear: drawn.flatMap { $0.points.map(\.y) }), series: drawn)
    }

    /// A line of this test and one of the earlier.
    ///
    /// - Parameter values: one per interval; the place is the end of the interval.
    private func both(
        _ name: String, colour: Int, isFilled: Bool = false, _ values: (LoadReport.Timeline) -> [Double?]?
    ) -> [LinePlot.Series] {
        func series(_ report: LoadReport?, isEarlier: Bool) -> LinePlot.Series? {
            guard let timeline = report?.timeline, let all = values(timeline) else { return nil }
            let points = all.enumerated().compactMap { index, value in
                value.map { (x: (Double(index + 1) * timeline.intervalSeconds).rounded(toPlaces: 3), y: $0) }
            }
            return LinePlot.Series(
                name: isEarlier ? "\(name), earlier" : name, colour: colour, isEarlier: isEarlier, isFilled: isFilled,
                points: points)
        }
        return [series(report, isEarlier: false), series(earlier, isEarlier: true)].compactMap { $0 }
    }

    private var throughput: LinePlot? {
        func rate(_ values: [Double], _ timeline: LoadReport.Timeline) -> [Double?] {
            values.map { ($0 / timeline.intervalSeconds).rounded(toPlaces: 1) }
        }
        var series = both("accepted", colour: 0) { rate($0.accepted.map(Double.init), $0) }
        series += both("dispatched", colour: 1) { timeline in timeline.dispatched.map { rate($0, timeline) } }
        if report.failed > 0 { series += both("failed", colour: 3) { rate($0.failed.map(Double.init), $0) } }
        return overTime(
            "Throughput", "Notifications per second that ingest accepted and the hub accepted.", unit: "per second",
            series)
    }

    private var backlog: LinePlot? {
        overTime(
            "Backlog", "Notifications that were accepted and not dispatched yet, estimated from the sample.",
            unit: "notifications", both("backlog", colour: 2, isFilled: true) { $0.backlog })
    }

    private var latencies: [LinePlot?] {
        [
            overTime(
                "Latency until accepted", "By the time of the response.", unit: "milliseconds",
                both("accept p50", colour: 0) { $0.acceptP50 } + both("accept p99", colour: 3) { $0.acceptP99 }),
            overTime(
                "Latency until dispatched", "By the time of the hub’s response, of the sample.",
                unit: "milliseconds",
                both("dispatch p50", colour: 1) { $0.dispatchP50 }
                    + both("dispatch p99", colour: 3) { $0.dispatchP99 }),
            overTime(
                "Latency until read", "By the time at which a device showed the payload.", unit: "milliseconds",
                both("read p50", colour: 2) { $0.readP50 } + both("read p99", colour: 3) { $0.readP99 }),
        ]
    }

    // MARK: Distribution

    private var distribution: LinePlot? {
        var series: [LinePlot.Series] = []
        var last = 90.0
        func add(
            _ name: String, colour: Int, _ summary: (LoadReport) -> LatencySummary?,
            _ values: (LoadReport.Distributions) -> [Double]?
        ) {
            for (isEarlier, report) in [(false, report), (true, earlier)] {
                guard let report, let distributions = report.distributions, let all = values(distributions),
                    let count = summary(report)?.count, count > 0
                else { continue }
                // A percentile above this one is the maximum.
                let known = zip(distributions.percents, all).filter { Double(count) * (100 - $0.0) >= 100 }
                last = max(last, known.last?.0 ?? 0)
                series.append(
                    LinePlot.Series(
                        name: isEarlier ? "\(name), earlier" : name, colour: colour, isEarlier: isEarlier,
                        points: known.map { (x: $0.0, y: $0.1) }))
            }
        }
        add("accept", colour: 0, { $0.acceptLatency }, { $0.accept })
        add("dispatch", colour: 1, { $0.dispatch?.latency }, { $0.dispatch })
        add("read", colour: 2, { $0.read?.latency }, { $0.read })
        let drawn = series.filter { !$0.points.isEmpty }
        guard drawn.contains(where: { !$0.isEarlier }) else { return nil }
        return LinePlot(
            title: "Distribution of the latencies",
            summary: "The share of notifications (percent) that took at most this time. Both axes are logarithmic.",
            xLabel: "percent of the notifications", yLabel: "milliseconds", x: PlotScale(percentsUpTo: last),
            y: PlotScale(logarithmic: drawn.flatMap { $0.points.map(\.y) }), series: drawn)
    }
}
