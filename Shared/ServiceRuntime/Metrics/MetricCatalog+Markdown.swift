extension MetricCatalog {
    /// The table of `docs/metrics.md`, which a test compares with this: a header and a row for each family.
    public static func markdownTable() -> String {
        var lines = ["| name | kind | labels | shown by | meaning |", "| --- | --- | --- | --- | --- |"]
        for metric in all {
            let labels = metric.labels.isEmpty ? "–" : metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            let services = metric.services.count == 4 ? "every service" : metric.services.joined(separator: ", ")
            lines.append("| `\(metric.name)` | \(metric.kind.word) | \(labels) | \(services) | \(metric.help) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The second table: the upper bounds of each histogram's buckets, in seconds.
    public static func bucketsTable() -> String {
        var lines = ["| histogram | buckets |", "| --- | --- |"]
        for metric in all {
            guard case .histogram(let buckets) = metric.kind else { continue }
            lines.append("| `\(metric.name)` | \(buckets.map(PrometheusText.number).joined(separator: " ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
