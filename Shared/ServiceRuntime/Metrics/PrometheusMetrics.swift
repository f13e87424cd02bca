package import CoreMetrics
import Foundations
import ServiceConfiguration
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The process's metrics in the form that Prometheus scrapes (text exposition format 0.0.4).
///
/// A factory for swift-metrics. Counters, floating-point counters, meters and gauges are single values; timers and
/// aggregating recorders are histograms. Names include their unit (`securepush_..._seconds`, `..._total`) and are used
/// unchanged, except that characters that Prometheus does not allow become `_`. Timers are shown in seconds. Making an
/// instrument twice with the same name and labels returns the same instrument.
///
/// Decision: docs/decisions/0022-make-or-buy.md
package final class PrometheusMetrics: Sendable {
    /// Upper bounds in seconds, as the OpenTelemetry HTTP and messaging conventions advise.
    static let defaultBuckets = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    private let catalog: [String: Metric]
    private let registry = Mutex(MetricRegistry())

    /// - Parameter catalog: has the `# HELP` lines, and the buckets of histograms.
    package init(catalog: [Metric] = MetricCatalog.all) {
        self.catalog = Dictionary(catalog.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A histogram with the buckets of the catalogue; the default ones if it is not there.
    private func histogram(_ name: String, _ dimensions: [(String, String)]) -> HistogramInstrument? {
        var buckets = PrometheusMetrics.defaultBuckets
        if case .histogram(let own)? = catalog[name]?.kind { buckets = own }
        return instrument(name, .histogram(buckets: buckets), dimensions) { HistogramInstrument(buckets: buckets) }
    }

    /// All families and series in the order of their names.
    package func exposition() -> String {
        let families = registry.withLock { $0.families }
        var text = PrometheusText()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text.family(name: name, kind: family.kind, help: catalog[name]?.help)
            for (labels, instrument) in family.instruments.sorted(by: { $0.key < $1.key }) {
                instrument.write(to: &text, name: name, labels: labels)
            }
        }
        return text.text
    }

    /// Adds a value that is read at each scrape; `nil` leaves the series out.
    package func observe(_ metric: Metric, _ labels: String..., value: @escaping @Sendable () -> Double?) {
        _ = instrument(metric.name, metric.kind, metric.dimensions(labels)) { ObservedInstrument(value: value) }
    }

    /// The instrument with this name and these labels, made if needed; `nil` if the family has another kind.
    private func instrument<I: PrometheusInstrument>(
        _ name: String, _ kind: Metric.Kind, _ labels: [(String, String)], make: () -> I
    ) -> I? {
        let name = PrometheusText.metricName(name)
        let labelText = PrometheusText.labels(labels)
        return registry.withLock { registry in
            registry.instrument(name: name, kind: kind, labels: labelText, make: make) as? I
        }
    }
}

extension PrometheusMetrics: MetricsFactory {
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(label, .counter, dimensions) { CounterInstrument() } ?? NOOPMetricsHandler.instance
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        instrument(label, .counter, dimensions) { ValueInstrument() } ?? NOOPMetricsHandler.instance
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        instrument(label, .gauge, dimensions) { ValueInstrument() } ?? NOOPMetricsHandler.instance
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else {
            return instrument(label, .gauge, dimensions) { ValueInstrument() } ?? NOOPMetricsHandler.instance
        }
        return histogram(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions) ?? NOOPMetricsHandler.instance
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func remove(_ handler: AnyObject) {
        registry.withLock { $0.remove(handler) }
    }
}

/// An instrument that writes itself into the exposition.
protocol PrometheusInstrument: AnyObject, Sendable {
    /// - Parameter labels: `name="value",...` without braces, or empty.
    func write(to text: inout PrometheusText, name: String, labels: String)
}

/// Families by name, series by label text.
private struct MetricRegistry {
    struct Family {
        let kind: Metric.Kind
        var instruments: [String: any PrometheusInstrument] = [:]
    }

    var families: [String: Family] = [:]

    /// The known instrument, or a new one; `nil` if the family has another kind, because Prometheus forbids two.
    mutating func instrument(
        name: String, kind: Metric.Kind, labels: String, make: () -> any PrometheusInstrument
    ) -> (any PrometheusInstrument)? {
        var family = families[name] ?? Family(kind: kind)
        guard family.kind == kind else { return nil }
        if let known = family.instruments[labels] { return known }
        let instrument = make()
        family.instruments[labels] = instrument
        families[name] = family
        return instrument
    }

    mutating func remove(_ handler: AnyObject) {
        for (name, family) in families {
            for (labels, instrument) in family.instruments where instrument === handler {
                families[name]?.instruments[labels] = nil
                if family.instruments.count == 1 { families[name] = nil }
                return
            }
        }
    }
}

/// The metrics of the process itself: the `process_...` metrics of Prometheus's client libraries, which exist on Linux
/// only, where `/proc` has their values, `securepush_build_info`, and the dropped lines of its log.
enum ProcessMetrics {
    static func register(in service: ServiceContext) {
        let metrics = service.metrics
        metrics.observe(
            .buildInfo, service.version, SecurePushVersion.revision, service.name, SecurePushVersion.swift
        ) { 1 }
        metrics.observe(.logLinesDropped) { Double(LogWriter.standardError.dropped) }
        #if os(Linux)
        registerProcess(in: metrics)
        #endif
    }

    #if os(Linux)
    private static func registerProcess(in metrics: PrometheusMetrics) {
        metrics.observe(.residentMemory) { residentBytes() }
        metrics.observe(.processCPU) { cpuSeconds() }
        let start = startTime()
        metrics.observe(.processStart) { start }
    }

    /// The second field of `/proc/self/statm`, in pages.
    static func residentBytes() -> Double? {
        guard let fields = (try? FileContent(path: "/proc/self/statm"))?.text.split(separator: " ") else { return nil }
        guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// User and system time in seconds.
    static func cpuSeconds() -> Double? {
        let microseconds = clock()
        return microseconds < 0 ? nil : Double(microseconds) / 1_000_000
    }

    /// The `btime` of `/proc/stat`, plus field 22 of `/proc/self/stat`: the start in clock ticks since boot.
    static func startTime() -> Double? {
        guard let system = (try? FileContent(path: "/proc/stat"))?.text, let label = system.firstRange(of: "\nbtime "),
            let boot = Double(system[label.upperBound...].prefix { $0 != "\n" }),
            let own = (try? FileContent(path: "/proc/self/stat"))?.text, let end = own.lastIndex(of: ")")
        else { return nil }
        // The name in brackets may contain spaces. The field after it is the third.
        let fields = own[own.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        return boot + (ticks / Double(sysconf(Int32(_SC_CLK_TCK)))).rounded()
    }
    #endif
}
