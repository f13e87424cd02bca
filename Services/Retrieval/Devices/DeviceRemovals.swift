import Domain
import Metrics
import ServiceRuntime

/// Why a device was removed; the label of `securepush_devices_removed_total`.
enum DeviceRemoval: String, CaseIterable, Sendable {
    /// Its user removed it.
    case user
    /// Another device or user registered its handle.
    case takeover
    /// The hub answered 410.
    case gone
    /// The hub refused it when its state was restored.
    case rejected
    /// The hub's feedback says that its push channel is dead.
    case deadChannel = "dead_channel"
    /// Its `expirationTime` has passed.
    case expired
    /// It was not seen for `DEVICE_STALE_AFTER`.
    case unseen

    init(_ reason: DueReason) {
        switch reason {
        case .expired: self = .expired
        case .unseen: self = .unseen
        }
    }
}

/// Counts removed devices by reason.
struct DeviceRemovals: Sendable {
    private let counters: [DeviceRemoval: Counter]

    init(_ metrics: PrometheusMetrics) {
        counters = Metric.devicesRemoved.counters(DeviceRemoval.allCases, in: metrics)
    }

    func count(_ reason: DeviceRemoval) { counters[reason]?.increment() }
}
