import SecurePushCore

/// What a load test has found out, as one JSON object; units are in the names.
struct LoadReport: Encodable, Sendable, Equatable {
    struct DispatchPart: Encodable, Sendable, Equatable {
        /// How many have ended how, all of them counted.
        var Statuses: [String: Int]
        /// Accepted, and not at the end of their dispatch when waiting was given up.
        var Pending: Int
        /// From the first acceptance to the hub's last answer.
        var DurationSeconds: Double?
        var DispatchedPerSecond: Double?
        /// From the last acceptance to the hub's last answer.
        var DrainSeconds: Double?
        /// From acceptance to the hub's answer for the last platform; of a sample.
        var Latency: LatencySummary
    }

    struct ReadPart: Encodable, Sendable, Equatable {
        var Devices: Int
        /// Payloads that the devices should read.
        var Expected: Int
        /// Those that did not come.
        var Missing: Int
        /// Pushes of what had been read before.
        var Repeated: Int
        var Failures: [String: Int]
        /// From acceptance to the payload on the device.
        var Latency: LatencySummary
    }

    var Count: Int
    var Recipients: Int
    var PayloadBytes: Int
    var Concurrency: Int
    /// Notifications a request, where the batch route was used.
    var Batch: Int?
    /// As asked for.
    var RatePerSecond: Int?
    /// Given to a request.
    var Sent: Int
    var Accepted: Int
    var Failed: Int
    /// By status or reason.
    var Failures: [String: Int]
    /// From the first request to the last answer.
    var DurationSeconds: Double
    var AcceptedPerSecond: Double
    /// From the request's begin, or from when it should have begun at the rate asked for, to the answer.
    var AcceptLatency: LatencySummary
    var Dispatch: DispatchPart?
    var Read: ReadPart?
    var Problems: [String]
    /// Whether Ctrl-C ended it.
    var Interrupted: Bool

    init(_ state: LoadLedger.State, plan: LoadPlan, interrupted: Bool) {
        let began = state.began ?? .now
        let duration = (state.ended ?? .now) - began
        Count = plan.count
        Recipients = plan.recipient == nil ? plan.recipients : 1
        PayloadBytes = plan.payloadSize
        Concurrency = plan.concurrency
        Batch = plan.usesBatchRoute ? plan.batch : nil
        RatePerSecond = plan.rate
        Sent = state.pacer.given
        Accepted = state.ids.count
        Failed = state.failed
        Failures = state.failures
        DurationSeconds = duration.inSeconds.rounded(toPlaces: 3)
        AcceptedPerSecond =
            duration > .zero ? (Double(state.ids.count) / duration.inSeconds).rounded(toPlaces: 1) : 0
        AcceptLatency = LatencySummary(state.accepted)
        Dispatch = plan.waits ? LoadReport.dispatch(state) : nil
        Read = plan.devices > 0 ? LoadReport.read(state.reads, plan) : nil
        Problems = state.problems
        Interrupted = interrupted
    }

    /// Whether everything was sent, accepted, dispatched and read.
    var isSuccess: Bool {
        let isDispatched = Dispatch.map { dispatch in
            let bad: [NotificationStatus] = [.failed, .partial]
            return dispatch.Pending == 0 && !bad.contains { dispatch.Statuses[$0.rawValue, default: 0] > 0 }
        }
        let isRead = Read.map { $0.Failures.isEmpty && ($0.Missing == 0 || Dispatch == nil) }
        return Accepted == Count && Problems.isEmpty && isDispatched ?? true && isRead ?? true
    }

    private static func dispatch(_ state: LoadLedger.State) -> DispatchPart {
        let figures = state.dispatch
        let statuses = (figures.statuses ?? [:]).map { ($0.key.rawValue, $0.value) }
        return DispatchPart(
            Statuses: Dictionary(uniqueKeysWithValues: statuses), Pending: figures.pending ?? state.ids.count,
            DurationSeconds: figures.duration?.inSeconds,
            DispatchedPerSecond: figures.perSecond?.rounded(toPlaces: 1), DrainSeconds: figures.drain?.inSeconds,
            Latency: LatencySummary(figures.latency))
    }

    private static func read(_ figures: ReadFigures, _ plan: LoadPlan) -> ReadPart {
        ReadPart(
            Devices: plan.devices, Expected: figures.expected, Missing: figures.missing, Repeated: figures.repeated,
            Failures: figures.failures, Latency: LatencySummary(figures.latency))
    }
}
