import Crypto
import Foundation
import SecurePushCore

/// The results of a load test as one HTML page: plots as inline SVG, tables, and the data as JSON. It loads nothing and
/// runs no script; its policy (Content Security Policy Level 3) allows its own style only.
struct LoadReportPage: Sendable {
    let report: LoadReport
    /// The test to compare with.
    var earlier: LoadReport?

    /// The document.
    ///
    /// - Throws: if the data cannot be encoded.
    func html() throws -> String {
        let digest = SHA256.hash(data: Data(LoadReportStyle.css.utf8))
        let hash = Data(digest).base64EncodedString()
        let data = HTMLText.escape(json: try JSONCoding.encode(report))
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-\(hash)'; \
            base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <title>\(HTML.escape(title))</title>
            <style>\(LoadReportStyle.css)</style>
            </head>
            <body>
            <main>
            \(header)
            \(figures)
            \(LoadReportPlots(report: report, earlier: earlier).html)
            \(percentiles)
            \(comparison)
            \(errors)
            \(planAndMachine)
            </main>
            \(EarlierReport.dataBegin)\(data)\(EarlierReport.dataEnd)
            </body>
            </html>

            """
    }

    private var title: String { "Load test of \(day)" }

    private var day: String { report.startedAt.map { String($0.prefix(10)) } ?? "an unknown day" }

    private var header: String {
        var html = "<header><h1>Load test</h1>\n"
        let time = report.startedAt.map { "Began \($0.prefix(19).replacing("T", with: " ")) UTC." } ?? ""
        let version =
            report.machine.map { " securepush \($0.version)\($0.isDebugBuild ? ", a debug build" : "")." } ?? ""
        html += "<p class=\"soft\">\(HTML.escape(time + version))</p>\n"
        html += "<p class=\"verdict \(report.isSuccess ? "good" : "bad")\">\(HTML.escape(verdict))</p>\n"
        for problem in report.problems { html += "<p class=\"verdict bad\">\(HTML.escape(problem))</p>\n" }
        return html + "</header>"
    }

    private var verdict: String {
        var words = "\(report.accepted.grouped) of \(report.count.grouped) notifications were accepted"
        if let dispatch = report.dispatch {
            let ended = dispatch.statuses.values.reduce(0, +)
            words += ", and \(ended.grouped) dispatched"
        }
        if let read = report.read {
            words += "; the devices read \(read.latency.count.grouped) of \(read.expected.grouped)"
        }
        words += "."
        for (status, place) in [(NotificationStatus.failed, "every platform"), (.partial, "some platforms")] {
            let count = report.dispatch?.statuses[status.rawValue] ?? 0
            if count > 0 { words += " \(count.grouped) failed on \(place)." }
        }
        if report.interrupted { words += " A signal ended the test early. When it came, \(report.interruptedLine)." }
        return words
    }

    // MARK: Key figures

    private var figures: String {
        var cards = [card("accepted per second", report.acceptedPerSecond.figure, "accepted per second")]
        if let rate = report.dispatch?.dispatchedPerSecond {
            cards.append(card("dispatched per second", rate.figure, "dispatched per second"))
        }
        func add(_ name: String, _ latency: LatencySummary?) {
            guard let latency, latency.count > 0 else { return }
            for (head, value) in zip(LatencySummary.heads.dropFirst(2), latency.values)
            where ["p50", "p99"].contains(head) {
                cards.append(card("\(name) \(head)", "\(LatencySummary.text(value)) ms", "\(name) \(head), ms"))
            }
        }
        add("accept", report.acceptLatency)
        add("dispatch", report.dispatch?.latency)
        add("read", report.read?.latency)
        return "<ul class=\"figures\">\(cards.joined(separator: "\n"))</ul>"
    }

    /// - Parameter figure: the name of the figure's line in the comparison.
    private func card(_ name: String, _ value: String, _ figure: String) -> String {
        let line = report.comparison?.lines.first { $0.name == figure }
        let change = line.map { line in
            "<span class=\"change \(LoadReportPage.className(line))\">\(HTML.escape(line.words))</span>"
        }
        return "<li><span class=\"name\">\(HTML.escape(name))</span><span class=\"value\">\(HTML.escape(value))</span>"
            + "\(change ?? "")</li>"
    }

    private static func className(_ line: LoadComparison.Line) -> String {
        line.change == 0 ? "soft" : line.change < 0 ? "bad" : "good"
    }

    // MARK: Tables

    private var percentiles: String {
        var rows = [["latency, ms"] + LatencySummary.heads, ["accept"] + report.acceptLatency.cells]
        if let latency = report.dispatch?.latency, latency.count > 0 { rows.append(["dispatch"] + latency.cells) }
        if let latency = report.read?.latency, latency.count > 0 { rows.append(["read"] + latency.cells) }
        return "<section><h2>Percentiles</h2>\n<div class=\"scroll\" tabindex=\"0\">"
            + HTML.table("Latencies in milliseconds", rows) + "</div>\n<p class=\"soft\">Accept is the time from the "
            + "start of a request (with a rate: from its planned start) to its response. Dispatch is the time from "
            + "acceptance to the hub’s response for the last platform, of a sample. Read is the time from acceptance "
            + "to the payload on a device.</p></section>"
    }

    private var comparison: String {
        guard let comparison = report.comparison else { return "" }
        let rows = comparison.lines.map { line in
            let cells = [LatencySummary.text(line.earlier), LatencySummary.text(line.now)].map { "<td>\($0)</td>" }
            let ratio = line.ratio.map { String(format: "%.2f", $0) } ?? "–"
            return "<tr><th scope=\"row\">\(HTML.escape(line.name))</th>\(cells.joined())<td>\(ratio)</td>"
                + "<td class=\"\(LoadReportPage.className(line))\">\(HTML.escape(line.words))</td></tr>"
        }
        let notes = comparison.differences.map { "<p class=\"verdict warn\">\(HTML.escape($0))</p>" }
        let caption = "Against the test of \(comparison.startedAt ?? "an unknown time")"
        return """
            <section><h2>Against an earlier test</h2>
            \(notes.joined(separator: "\n"))
            <div class="scroll" tabindex="0"><table><caption>\(HTML.escape(caption))</caption>
            <thead><tr><th scope="col">figure</th><th scope="col">then</th><th scope="col">now</th>\
            <th scope="col">ratio</th><th scope="col">change</th></tr></thead>
            <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
            <p class="soft">Up to 3 % in either direction is the same.</p></section>
            """
    }

    private var errors: String {
        var rows = report.failures.map { ("not accepted", $0.key, $0.value) }
        rows += (report.dispatch?.statuses ?? [:]).filter { ["failed", "partial"].contains($0.key) }
            .map { ("dispatch", $0.key, $0.value) }
        rows += (report.read?.failures ?? [:]).map { ("not read", $0.key, $0.value) }
        if let pending = report.dispatch?.pending, pending > 0 {
            rows.append(("dispatch", "not dispatched in time", pending))
        }
        if let unknown = report.interruption?.unknown, unknown > 0 {
            rows.append(("accept", "no answer before the test ended", unknown))
        }
        guard !rows.isEmpty else { return "<section><h2>Errors</h2><p>There were none.</p></section>" }
        let sorted = rows.sorted { ($1.2, $0.0, $0.1) < ($0.2, $1.0, $1.1) }
        let cells = sorted.map { [$0.1, $0.0, $0.2.grouped] }
        return "<section><h2>Errors</h2><div class=\"scroll\" tabindex=\"0\">"
            + HTML.table("Notifications by reason", [["reason", "stage", "notifications"]] + cells) + "</div></section>"
    }

    private var planAndMachine: String {
        let plan: [(String, String?)] = [
            ("notifications", report.count.grouped), ("recipients", report.recipients.grouped),
            ("payload", "\(report.payloadBytes.grouped) bytes"),
            ("pace", report.ratePerSecond.map { "\($0.grouped) per second" } ?? "no limit"),
            ("concurrent requests", report.concurrency.grouped), ("notifications per batch", report.batch?.grouped),
            ("devices", report.read?.devices.grouped),
            ("duration of sending", "\(LinePlot.label(report.durationSeconds)) s"),
            ("drained after the last was accepted", report.dispatch?.drainSeconds.map { "\(LinePlot.label($0)) s" }),
        ]
        let machine: [(String, String?)] = [
            ("system", report.machine?.system), ("processor", report.machine?.processor),
            ("processors", report.machine?.processors.grouped),
            ("memory", report.machine.map { String(format: "%.1f GiB", Double($0.memoryBytes) / 1_073_741_824) }),
            ("program", report.machine.map { "\($0.version)\($0.isDebugBuild ? ", debug build" : "")" }),
        ]
        return "<div class=\"pair\"><section><h2>Plan</h2>\(LoadReportPage.list(plan))</section>\n"
            + "<section><h2>Machine of the load test</h2>\(LoadReportPage.list(machine))</section></div>"
    }

    private static func list(_ entries: [(String, String?)]) -> String {
        let items = entries.compactMap { name, value in
            value.map { "<dt>\(HTML.escape(name))</dt><dd>\(HTML.escape($0))</dd>" }
        }
        return "<dl>\(items.joined(separator: "\n"))</dl>"
    }
}
