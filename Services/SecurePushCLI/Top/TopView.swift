import Foundation

/// `securepush top` for people: a row a service, and under it what flows through the system.
struct TopView: Sendable {
    let readings: [TopReading]
    let styled: @Sendable (String, Style) -> String

    var lines: [String] { services + faults + [""] + flow }

    private var services: [String] {
        var table = TextTable()
        table.add(["service", "state", "version", "req/s", "p50 ms", "p99 ms", "CPU %", "RSS MB"])
        for reading in readings {
            table.add([
                reading.Service, reading.State, (reading.Version ?? "-").printable,
                TopView.figure(reading.RequestsPerSecond),
                reading.RequestLatency.map { LatencySummary.text($0.P50Milliseconds) } ?? "-",
                reading.RequestLatency.map { LatencySummary.text($0.P99Milliseconds) } ?? "-",
                TopView.figure(reading.CPUPercent), TopView.figure(reading.ResidentMemoryBytes.map { $0 / 1_048_576 }),
            ])
        }
        let lines = table.lines
        // Colours come last: they have no width.
        return [styled(lines[0], .bold)]
            + zip(lines.dropFirst(), readings).map { line, reading in
                reading.State == "ready" ? line : styled(line, reading.State == "unready" ? .yellow : .red)
            }
    }

    private var faults: [String] {
        readings.filter { !$0.Down.isEmpty }.map { reading in
            let words = reading.State == "unreachable" ? "" : "\(reading.Service): down: "
            return styled("  " + words + reading.Down.joined(separator: ", ").printable, .red)
        }
    }

    private var flow: [String] {
        [
            fact("accepted/s", total("AcceptedPerSecond")), fact("outbox pending", outbox),
            fact("dispatched/s", total("DispatchedPerSecond")), listed("attempts/s", attempts),
            listed("by platform", platforms), fact("retries/s", total("RetriesPerSecond")),
            fact("parked", total("Parked")), fact("retrievals/s", total("RetrievalsPerSecond")),
            listed("99th percentiles", percentiles),
        ]
    }

    private func fact(_ name: String, _ value: String) -> String { name.padded(to: 18) + value }

    private func listed(_ name: String, _ items: [String]) -> String {
        fact(name, items.isEmpty ? "-" : items.joined(separator: ", "))
    }

    private var outbox: String {
        // Every ingest sees the one outbox.
        let ages = readings.compactMap { $0.Figures["OutboxOldestAgeSeconds"] }
        let pending = readings.compactMap { $0.Figures["OutboxPending"] }.max()
        // A service may answer any number; more than this is no age.
        let age = ages.filter { $0 < 1e12 }.max().map { $0 > 0 ? " (oldest \(Duration.seconds($0).spoken))" : "" } ?? ""
        return TopView.amount(pending) + age
    }

    private var attempts: [String] {
        ["sent", "throttled", "unavailable", "rejected", "unauthorized"].compactMap { result in
            let rate = sum("\(result.capitalized)PerSecond")
            return rate.map { "\($0.figure) \(result)" }
        }
    }

    private var platforms: [String] {
        let names = Set(readings.flatMap { $0.Figures.keys }).filter {
            $0.hasPrefix("Attempts") && $0 != "AttemptsPerSecond"
        }
        return names.sorted().compactMap { name in
            let platform = name.dropFirst("Attempts".count).dropLast("PerSecond".count).lowercased()
            return sum(name).map { "\($0.figure) \(platform)" }
        }
    }

    private var percentiles: [String] {
        [("hub", "HubP99Milliseconds"), ("broker confirm", "ConfirmP99Milliseconds")].compactMap { name, figure in
            // Of several dispatchers the slowest: percentiles do not add up.
            readings.compactMap { $0.Figures[figure] }.max().map { "\(name) \(LatencySummary.text($0)) ms" }
        }
    }

    private func sum(_ name: String) -> Double? {
        let values = readings.compactMap { $0.Figures[name] }
        return values.isEmpty ? nil : values.reduce(0, +)
    }

    private func total(_ name: String) -> String {
        name.hasSuffix("PerSecond") ? TopView.figure(sum(name)) : TopView.amount(sum(name))
    }

    private static func figure(_ value: Double?) -> String { value?.figure ?? "-" }

    /// A whole number.
    private static func amount(_ value: Double?) -> String {
        value.flatMap { Int(exactly: $0.rounded()) }?.grouped ?? "-"
    }
}
