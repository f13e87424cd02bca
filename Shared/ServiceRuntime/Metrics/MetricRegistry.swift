/// The `# TYPE` of a family.
enum MetricKind: String {
    case counter, gauge, histogram
}

/// Something with a place in the exposition.
protocol PrometheusInstrument: AnyObject, Sendable {
    /// - Parameter labels: `name="value",...` without braces, or empty.
    func write(to text: inout PrometheusText, name: String, labels: String)
}

/// Families by name, series by label text.
struct MetricRegistry {
    struct Family {
        let kind: MetricKind
        var instruments: [String: any PrometheusInstrument] = [:]
    }

    var families: [String: Family] = [:]

    /// The instrument that is there, or a new one; `nil` if the family is of another kind, which Prometheus forbids.
    mutating func instrument(
        name: String, kind: MetricKind, labels: String, make: () -> any PrometheusInstrument
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
