public import CoreMetrics
import Synchronization

/// The process's metrics, in the form that Prometheus scrapes (text exposition format 0.0.4).
///
/// A factory for swift-metrics: counters, floating-point counters, meters and gauges are single values; timers and
/// recorders that aggregate are histograms. Labels name whole series with their unit (`securepush_..._seconds`,
/// `..._total`) and are used as they are; characters that Prometheus does not take become `_`. Timers are shown in
/// seconds. An instrument made twice with the same name and labels is the same instrument.
public final class PrometheusMetrics: Sendable {
    /// Upper bounds in seconds, as the OpenTelemetry HTTP and messaging conventions advise.
    public static let defaultBuckets = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    private let catalog: [String: MetricDescription]
    private let registry = Mutex(MetricRegistry())

    /// - Parameter catalog: gives families their `# HELP` lines, and histograms their buckets.
    public init(catalog: [MetricDescription] = MetricCatalog.all) {
        self.catalog = Dictionary(catalog.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The upper bounds of a histogram; the defaults for one that the catalogue does not have.
    private func buckets(of name: String) -> [Double] {
        guard case .histogram(let buckets)? = catalog[name]?.kind else { return PrometheusMetrics.defaultBuckets }
        return buckets
    }

    /// Everything, families and series in the order of their names.
    public func exposition() -> String {
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

    /// A value that is read when it is shown, for example of the process.
    public func observe(
        _ name: String, kind: ObservedKind = .gauge, labels: [(String, String)] = [],
        _ value: @escaping @Sendable () -> Double?
    ) {
        _ = instrument(name, kind == .counter ? .counter : .gauge, labels) { ObservedInstrument(value: value) }
    }

    /// Whether an observed value only grows.
    public enum ObservedKind: Sendable { case counter, gauge }

    /// The instrument of this name and these labels, made if there is none; `nil` if the name is of another kind.
    private func instrument<I: PrometheusInstrument>(
        _ name: String, _ kind: MetricKind, _ labels: [(String, String)], make: () -> I
    ) -> I? {
        let name = PrometheusText.metricName(name)
        let labelText = PrometheusText.labels(labels)
        return registry.withLock { registry in
            registry.instrument(name: name, kind: kind, labels: labelText, make: make) as? I
        }
    }
}

extension PrometheusMetrics: MetricsFactory {
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(label, .counter, dimensions) { CounterInstrument() } ?? NOOPMetricsHandler.instance
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        instrument(label, .counter, dimensions) { ValueInstrument() } ?? NOOPMetricsHandler.instance
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        instrument(label, .gauge, dimensions) { ValueInstrument() } ?? NOOPMetricsHandler.instance
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else {
            return instrument(label, .gauge, dimensions) { ValueInstrument() } ?? NOOPMetricsHandler.instance
        }
        return instrument(label, .histogram, dimensions) { HistogramInstrument(buckets: buckets(of: label)) }
            ?? NOOPMetricsHandler.instance
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        instrument(label, .histogram, dimensions) { HistogramInstrument(buckets: buckets(of: label)) }
            ?? NOOPMetricsHandler.instance
    }

    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func remove(_ handler: AnyObject) {
        registry.withLock { $0.remove(handler) }
    }
}
