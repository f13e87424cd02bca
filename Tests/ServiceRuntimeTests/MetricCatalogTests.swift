import Foundation
import ServiceRuntime
import TestSupport
import Testing

/// The catalogue of metrics, its document and the sources say the same.
@Suite struct MetricCatalogTests {
    private static let document = TestEnvironment.packageRoot.appending(path: "docs/reference/metrics.md")

    @Test func `The reference page holds the catalogue's tables`() throws {
        let document = try String(contentsOf: Self.document, encoding: .utf8)
        for table in [MetricCatalog.markdownTable(), MetricCatalog.bucketsTable()] {
            #expect(document.contains(table), "Put this table into docs/reference/metrics.md:\n\(table)")
        }
    }

    /// Prometheus, "Metric and label naming".
    @Test(arguments: MetricCatalog.all)
    func `Names keep Prometheus rules`(_ metric: Metric) {
        #expect(metric.name.wholeMatch(of: /(securepush|process)(_[a-z]+)+/) != nil)
        #expect((metric.kind == .counter) == metric.name.hasSuffix("_total"))
        if case .histogram(let buckets) = metric.kind {
            #expect(metric.name.hasSuffix("_seconds"))
            #expect(buckets == buckets.sorted() && Set(buckets).count == buckets.count)
        }
        #expect(metric.help.hasSuffix("."))
        #expect(!metric.services.isEmpty)
    }

    @Test func `Names are unique`() {
        #expect(Set(MetricCatalog.all.map(\.name)).count == MetricCatalog.all.count)
    }

    /// Every name in a source is in the catalogue, and a source names every entry, or has its name: the modules below
    /// the catalogue make their instruments themselves.
    @Test func `The sources make what the catalogue has`() throws {
        var made: Set<String> = []
        var sources = ""
        var catalogue = ""
        for folder in ["Shared", "Services"] {
            let root = TestEnvironment.packageRoot.appending(path: folder)
            let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                if file.lastPathComponent == "MetricCatalog.swift" {
                    catalogue = text
                    continue
                }
                sources += text
                for match in text.matches(of: /"((?:securepush|process)_[a-z_]+)"/) { made.insert(String(match.1)) }
            }
        }
        // What reads metrics names them without making any; a role of the database and a claim of tokens are no
        // metrics.
        made.subtract(["securepush_", "securepush_owner", "securepush_entry"])
        #expect(made.subtracting(MetricCatalog.all.map(\.name)).isEmpty)
        var entries: Set<String> = []
        for match in catalogue.matches(of: /static let (\w+) = Metric\(\s*"(\w+)"/) {
            let name = String(match.2)
            entries.insert(name)
            let uses = ["Metric.\(match.1).", "observe(.\(match.1)", "            .\(match.1), "]
            #expect(made.contains(name) || uses.contains { sources.contains($0) }, "Nothing makes \(name).")
        }
        #expect(entries == Set(MetricCatalog.all.map(\.name)))
    }
}
