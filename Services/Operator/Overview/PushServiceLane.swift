import Foundations
import ServiceRuntime

/// A platform of your own hub, in the page's section "push services".
struct PushServiceLane: Encodable, Sendable {
    var hub: String
    var platform: String
    /// The address of the process.
    var process: String
    /// `open`, `paused`, `refused` or `simulated`.
    var state: String
    /// Whether devices with wrong addresses are kept, because there are too many.
    var removalsSuspended: Bool
    var pushesPerSecond: Double?
    /// Of these, how many were accepted.
    var acceptedPerSecond: Double?
    var inFlight: Int?
    var retriesWaiting: Int?
    /// Of the pushes between the last two polls.
    var p99Milliseconds: Double?

    /// The lanes of one process that are shown.
    static let maxPerProcess = 100

    /// The lanes of all hubs that answer, by hub and platform.
    static func all(in entries: [ProcessTable.Entry]) -> [PushServiceLane] {
        entries.filter { $0.kind == .hub }.flatMap { entry -> [PushServiceLane] in
            guard let window = entry.process.window else { return [] }
            let samples = window.after[Metric.hubLaneState.name].prefix(maxPerProcess)
            return samples.map { PushServiceLane($0, window, entry) }
        }
        .sorted { ($0.hub, $0.platform, $0.process) < ($1.hub, $1.platform, $1.process) }
    }

    private init(_ sample: PrometheusSamples.Sample, _ window: MetricsWindow, _ entry: ProcessTable.Entry) {
        let labels = sample.labels.filter { ["platform", "hub"].contains($0.key) }
        (hub, platform, process) = (labels["hub"] ?? "", labels["platform"] ?? "", entry.address)
        let readiness = entry.process.readiness
        let isSimulated = readiness.simulated.contains("\(hub)/\(platform)")
        let states: [Double: String] = [0: isSimulated ? "simulated" : "open", 1: "paused", 2: "refused"]
        state = states[sample.value] ?? "unknown"
        removalsSuspended = window.after.sum(Metric.hubRemovalsSuspended.name, labels).map { $0 > 0 } ?? false
        let round = { (value: Double) in (value * 100).rounded() / 100 }
        pushesPerSecond = window.rate(Metric.hubPushes.name, labels).map(round)
        acceptedPerSecond =
            pushesPerSecond == nil
            ? nil : round(window.rate(Metric.hubPushes.name, labels.merging(["outcome": "Success"]) { $1 }) ?? 0)
        inFlight = readiness.inFlight["\(hub)/\(platform)"]
        retriesWaiting = window.after.sum(Metric.hubRetriesWaiting.name, labels).flatMap { Int(exactly: $0) }
        p99Milliseconds = window.quantile(0.99, Metric.hubPushDuration.name, labels).map { round($0 * 1000) }
    }
}

extension Overview {
    /// The problems of push services. A simulated platform is no problem in a trial, and is shown as simulated.
    var pushServiceTroubles: [Trouble] {
        func names(_ lanes: [PushServiceLane]) -> String {
            Set(lanes.map { "\($0.hub)/\($0.platform)" }).sorted().joined(separator: ", ")
        }
        func trouble(_ level: Trouble.Level, _ short: String, _ text: String) -> Trouble {
            Trouble(level: level, kind: .lane, short: short, text: text, section: "pushServices")
        }
        var troubles: [Trouble] = []
        let refused = pushServices.filter { $0.state == "refused" }
        if !refused.isEmpty {
            troubles.append(
                trouble(
                    .bad, "Push services refuse",
                    "Push services refuse the hub's credentials for \(names(refused)): check PUSH_CREDENTIALS_FILE."))
        }
        let suspended = pushServices.filter(\.removalsSuspended)
        if !suspended.isEmpty {
            troubles.append(
                trouble(
                    .bad, "Removals are suspended",
                    "Too many devices of \(names(suspended)) have wrong addresses, so none is removed: check the "
                        + "environment, the topic and the sender."))
        }
        let paused = pushServices.filter { $0.state == "paused" }
        if !paused.isEmpty {
            troubles.append(
                trouble(
                    .warn, "Push services are paused",
                    "Push services throttle, fail or cannot be reached: \(names(paused))."))
        }
        return troubles
    }
}
