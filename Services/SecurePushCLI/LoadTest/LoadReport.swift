import Domain
import Foundations

/// The results of a load test as one JSON object, with the units in the names.
struct LoadReport: Encodable, Sendable, Equatable {
    struct DispatchPart: Encodable, Sendable, Equatable {
        /// The number of final notifications by status.
        var statuses: [String: Int]
        /// Accepted notifications that were not final at the end of the test.
        var pending: Int
        /// From the first acceptance to the hub's last response.
        var durationSeconds: Double?
        var dispatchedPerSecond: Double?
        /// From the last acceptance to the hub's last response.
        var drainSeconds: Double?
        /// Of a sample: from acceptance to the hub's response for the last platform.
        var latency: LatencySummary
    }

    struct ReadPart: Encodable, Sendable, Equatable {
        var devices: Int
        /// Payloads that the devices should read.
        var expected: Int
        /// Payloads that they did not read.
        var missing: Int
        /// Pushes of notifications that were already read.
        var repeated: Int
        var failures: [String: Int]
        /// From acceptance to the payload on the device.
        var latency: LatencySummary
    }

    /// What became of the requests that a signal found in flight.
    struct Interruption: Encodable, Sendable, Equatable {
        /// Notifications whose requests had no response when the signal came.
        var inFlight: Int
        /// Of these, accepted or refused afterwards.
        var answered: Int
        /// Of these, without a response. They can have been accepted.
        var unknown: Int
    }

    var startedAt: String?
    var count: Int
    var recipients: Int
    var payloadBytes: Int
    var concurrency: Int
    /// Notifications per request of the batch route; `nil` without it.
    var batch: Int?
    var ratePerSecond: Int?
    /// Notifications in the requests sent.
    var sent: Int
    var accepted: Int
    var failed: Int
    /// By status or reason.
    var failures: [String: Int]
    /// From the first request to the last response.
    var durationSeconds: Double
    var acceptedPerSecond: Double
    /// From the start of the request, or with a rate from the time when it was due, to the response.
    var acceptLatency: LatencySummary
    var dispatch: DispatchPart?
    var read: ReadPart?
    var problems: [String]
    /// Whether a signal ended it.
    var interrupted: Bool
    var interruption: Interruption?

    init(_ state: LoadMeasurements.State, plan: LoadPlan, interrupted: Bool) {
        let now = ContinuousClock.now
        let duration = (state.ended ?? now) - (state.began ?? now)
        startedAt = state.startedAt?.description
        count = plan.count
        recipients = plan.recipientCount
        payloadBytes = plan.payloadSize
        concurrency = plan.concurrency
        batch = plan.usesBatchRoute ? plan.batch : nil
        ratePerSecond = plan.rate
        sent = state.sent
        accepted = state.ids.count
        failed = state.failed
        failures = state.failures
        durationSeconds = duration.inSeconds.rounded(toPlaces: 3)
        acceptedPerSecond =
            duration > .zero ? (Double(state.ids.count) / duration.inSeconds).rounded(toPlaces: 1) : 0
        acceptLatency = LatencySummary(state.accepted)
        dispatch = plan.waits ? DispatchPart(state.dispatch, accepted: state.ids.count) : nil
        read = plan.devices > 0 ? ReadPart(state.reads, devices: plan.devices) : nil
        problems = state.problems
        self.interrupted = interrupted
        interruption = state.inFlightAtStop.map { inFlight in
            let unknown = min(inFlight, state.inFlight)
            return Interruption(inFlight: inFlight, answered: inFlight - unknown, unknown: unknown)
        }
    }

    /// Whether everything was sent, accepted, dispatched and read.
    var isSuccess: Bool {
        let isDispatched = dispatch.map { dispatch in
            let bad: [NotificationStatus] = [.failed, .partial]
            return dispatch.pending == 0 && !bad.contains { dispatch.statuses[$0.rawValue, default: 0] > 0 }
        }
        let isRead = read.map { $0.failures.isEmpty && ($0.missing == 0 || dispatch == nil) }
        return accepted == count && problems.isEmpty && isDispatched ?? true && isRead ?? true
    }
}

extension LoadReport.DispatchPart {
    init(_ figures: DispatchFigures, accepted: Int) {
        let counts = (figures.statuses ?? [:]).map { ($0.key.rawValue, $0.value) }
        statuses = Dictionary(uniqueKeysWithValues: counts)
        pending = figures.pending ?? accepted
        durationSeconds = figures.duration?.inSeconds
        dispatchedPerSecond = figures.perSecond?.rounded(toPlaces: 1)
        drainSeconds = figures.drain?.inSeconds
        latency = LatencySummary(figures.latency)
    }
}

extension LoadReport.ReadPart {
    init(_ figures: ReadFigures, devices: Int) {
        self.devices = devices
        (expected, missing, repeated) = (figures.expected, figures.missing, figures.repeated)
        failures = figures.failures
        latency = LatencySummary(figures.latency)
    }
}
