import Domain
import Foundations
import ServiceConfiguration
import ServiceRuntime

/// Collects the overview.
///
/// However many pages are open, the store and the broker are asked at most once per ``freshness``, and only while
/// somebody asks. A census reads at most ``NotificationCensus/maxScan`` rows at the end of the primary key.
actor OverviewSource {
    /// How long an overview is given again.
    static let freshness = Duration.seconds(2)
    /// How long the page waits for the store or the broker.
    static let patience = Duration.seconds(3)

    private let directory: OperatorDirectory
    private let backlog: @Sendable (Timestamp) async throws -> OutboxBacklog
    private let genericTexts: @Sendable (Timestamp) async throws -> [GenericTextCount]
    private let queues: any QueueReadings
    private let table: ProcessTable
    private let targets: [ProcessKind: [ProcessTarget]]
    private let service: ServiceContext
    private var cached: [TimeWindow: (task: Task<Overview, Never>, start: ContinuousClock.Instant)] = [:]
    /// Since when a source is down.
    private var failures: [String: Timestamp] = [:]

    init(
        directory: OperatorDirectory, backlog: @escaping @Sendable (Timestamp) async throws -> OutboxBacklog,
        genericTexts: @escaping @Sendable (Timestamp) async throws -> [GenericTextCount] = { _ in [] },
        queues: any QueueReadings, table: ProcessTable, targets: [ProcessKind: [ProcessTarget]],
        service: ServiceContext
    ) {
        self.directory = directory
        self.backlog = backlog
        self.genericTexts = genericTexts
        self.queues = queues
        self.table = table
        self.targets = targets
        self.service = service
    }

    /// The overview, at most ``freshness`` old.
    func overview(_ window: TimeWindow) async -> Overview {
        let now = ContinuousClock.now
        if let known = cached[window], now - known.start < Self.freshness { return await known.task.value }
        let task = Task { await self.collect(window) }
        cached[window] = (task, now)
        return await task.value
    }

    private func collect(_ window: TimeWindow) async -> Overview {
        let now = Timestamp.now
        async let counting = Self.within(Self.patience) { [directory, backlog, genericTexts] in
            async let census = directory.store.census(since: now - window.duration, now: now)
            async let failing = directory.failures(window, before: nil, now: now)
            async let generic = genericTexts(now - window.duration)
            return (
                census: try await census, failures: try await failing, backlog: try await backlog(now),
                generic: try await generic
            )
        }
        async let measuring = Self.within(Self.patience) { [queues] in try await queues.queues() }
        let (counts, readings) = await (counting, measuring)
        var sources = [
            source("database", counts.failure), source("broker", readings.failure),
        ]
        let entries = table.entries
        for (kind, key) in [
            (ProcessKind.ingest, ConfigurationKeys.ingestURL.name), (.dispatcher, ConfigurationKeys.dispatcherURL.name),
            (.retrieval, ConfigurationKeys.retrievalURL.name), (.hub, ConfigurationKeys.hubURL.name),
        ] {
            let isNamed = targets[kind]?.isEmpty == false
            sources.append(source(kind.rawValue, key, isNamed: isNamed, entries.filter { $0.kind == kind }))
        }
        let census = counts.value?.census
        return Overview(
            time: now.description, service: service.name, version: service.version, sources: sources,
            funnel: census.map { Overview.Funnel($0, window: window, now: now) }, rates: Overview.Rates(entries),
            queues: (readings.value ?? []).map {
                Overview.Queue(
                    name: $0.name, purpose: $0.purpose.rawValue, messages: $0.messages, consumers: $0.consumers,
                    problem: $0.problem)
            },
            outbox: Overview.Outbox(counts.value?.backlog, census, now), lanes: Overview.Lane.all(in: entries),
            pushServices: PushServiceLane.all(in: entries), processes: entries.map(Overview.Process.init),
            latencies: table.latencies,
            failures: counts.value?.failures, genericTexts: counts.value?.generic.map(Overview.GenericText.init)
        ).judged()
    }

    private func source(_ name: String, _ failure: String?) -> Overview.Source {
        guard let failure else {
            failures[name] = nil
            return Overview.Source(name: name, state: "up")
        }
        let since = failures[name] ?? .now
        failures[name] = since
        return Overview.Source(name: name, state: "down", since: since.description, detail: failure)
    }

    private func source(
        _ name: String, _ key: String, isNamed: Bool, _ entries: [ProcessTable.Entry]
    ) -> Overview.Source {
        if !isNamed { return Overview.Source(name: name, state: "off", detail: "\(key) names none.") }
        let down = entries.filter { $0.process.readiness.state == .unreachable }
        guard let first = down.min(by: { $0.process.since < $1.process.since }) else {
            return Overview.Source(name: name, state: "up")
        }
        let reason = first.process.readiness.down.first ?? ""
        let words = entries.count == 1 ? "" : "\(down.count) of \(entries.count) do not answer: "
        return Overview.Source(
            name: name, state: "down", since: first.process.since.description,
            detail: "\(words)\(first.address): \(reason)")
    }

    /// The value of an operation, or why there is none. The operation is cancelled at the deadline.
    private static func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async -> Reading<Value> {
        await withTaskGroup(of: Reading<Value>.self) { group in
            group.addTask {
                do {
                    return .value(try await body())
                } catch {
                    return .failure("\(error)")
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return .failure("There was no answer within \(limit.components.seconds) s.")
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure("The service is stopping.")
        }
    }

    private enum Reading<Value: Sendable>: Sendable {
        case value(Value)
        case failure(String)

        var value: Value? { if case .value(let value) = self { value } else { nil } }
        var failure: String? { if case .failure(let text) = self { text } else { nil } }
    }
}

extension Overview.Funnel {
    init(_ census: NotificationCensus, window: TimeWindow, now: Timestamp) {
        let since = census.isCut ? census.oldest : nil
        self.init(
            window: window.rawValue, since: (since ?? now - window.duration).description, isCut: census.isCut,
            accepted: census.accepted, published: census.published, pushed: census.pushed, read: census.read,
            shown: census.shown, partial: census.partial, failed: census.failed, revoked: census.revoked)
    }
}

extension Overview.Rates {
    init(_ entries: [ProcessTable.Entry]) {
        let rate = { (kind: ProcessKind, metric: String, labels: [String: String]) -> Double? in
            let rates = entries.filter { $0.kind == kind }.compactMap { $0.process.window?.rate(metric, labels) }
            return rates.isEmpty ? nil : (rates.reduce(0, +) * 100).rounded() / 100
        }
        self.init(
            accepted: rate(.ingest, "securepush_notifications_accepted_total", ["result": "created"]),
            published: rate(.ingest, "securepush_outbox_published_total", [:]),
            pushed: rate(.dispatcher, "securepush_dispatch_attempts_total", ["result": "sent"]),
            retried: rate(.dispatcher, "securepush_dispatch_retries_total", [:]),
            read: rate(.retrieval, "securepush_retrievals_total", ["result": "ok"]))
    }
}

extension Overview.Lane {
    /// The lanes of one dispatcher that are shown: a dispatcher has one for each platform and hub.
    static let maxPerDispatcher = 100

    /// The lanes of all dispatchers that answer, by platform.
    static func all(in entries: [ProcessTable.Entry]) -> [Overview.Lane] {
        entries.flatMap { entry -> [Overview.Lane] in
            guard let window = entry.process.window else { return [] }
            return window.after["securepush_lane_state"].prefix(maxPerDispatcher).map {
                Overview.Lane($0, window, entry.address)
            }
        }
        .sorted { ($0.platform, $0.hub, $0.dispatcher) < ($1.platform, $1.hub, $1.dispatcher) }
    }

    private init(_ sample: PrometheusSamples.Sample, _ window: MetricsWindow, _ dispatcher: String) {
        let labels = sample.labels.filter { ["platform", "hub"].contains($0.key) }
        let attempts = "securepush_dispatch_attempts_total"
        let sent = window.rate(attempts, labels.merging(["result": "sent"]) { $1 })
        let all = window.rate(attempts, labels)
        let round = { (value: Double) in (value * 100).rounded() / 100 }
        let states: [Double: String] = [0: "open", 1: "paused", 2: "refused"]
        self.init(
            platform: labels["platform"] ?? "", hub: labels["hub"] ?? "", dispatcher: dispatcher,
            state: states[sample.value] ?? "unknown",
            limit: window.after.sum("securepush_lane_limit", labels).flatMap { Int(exactly: $0) },
            sentPerSecond: all == nil ? nil : round(sent ?? 0), failedPerSecond: all.map { round($0 - (sent ?? 0)) },
            held: Int(exactly: window.after.sum("securepush_lane_held_total", labels) ?? 0),
            p99Milliseconds: window.quantile(0.99, "securepush_hub_request_duration_seconds", labels).map {
                round($0 * 1000)
            })
    }
}

extension Overview.Outbox {
    init(_ backlog: OutboxBacklog?, _ census: NotificationCensus?, _ now: Timestamp) {
        let age = { (time: Timestamp?) in time.map { max(0, (now - $0).milliseconds / 1000) } }
        self.init(
            pending: backlog?.count, oldestDueSeconds: age(backlog?.oldest),
            oldestUnfinishedSeconds: age(census?.oldestUnfinished))
    }
}

extension Overview.Process {
    init(_ entry: ProcessTable.Entry) {
        let (process, readiness) = (entry.process, entry.process.readiness)
        let problems = readiness.down.map { part in
            readiness.state == .unreachable
                ? part : "\(part) is down\(readiness.reasons[part].map { ": \($0)" } ?? "")"
        }
        self.init(
            kind: entry.kind, address: entry.address, state: readiness.state, since: process.since.description,
            problem: problems.isEmpty ? nil : String(problems.joined(separator: "; ").prefix(500)),
            version: process.version, startedAt: process.startedAt?.description,
            residentMemoryBytes: process.residentMemory.flatMap { Int64(exactly: $0.rounded()) },
            cpuPercent: process.cpuPercent)
    }
}
