/// Judges a history, in the manner of Jepsen's total-queue: what was acknowledged must have come out, nothing else may
/// have, and what came out twice must have a reason on record.
///
/// A value that is fed event by event, so that a history need not fit into memory: it keeps a few words for each
/// notification and device.
public struct Checker: Sendable {
    var run: HistoryEvent.Run?
    var end: HistoryEvent.End?
    /// Numbers of notifications that a sender began to send.
    var invoked: Set<Int> = []
    var requests = 0
    var statuses: [Int: Int] = [:]
    var refused: Set<Int> = []
    /// The IDs that a number was answered with.
    var answers: [Int: Set<String>] = [:]
    var notifications: [String: Trace] = [:]
    var devices: [String: HistoryEvent.Device] = [:]
    var hubSends = 0
    var hubAccepted = 0
    var unreadableSends = 0
    var lastTrouble: Int64 = 0
    var open: [String: Int] = [:]
    var faultCounts: [String: Int] = [:]
    var faultFailures: [String] = []
    var healed = 0
    var overwritten = 0
    var letters = 0
    var lettersWithoutID = 0
    var leaks: [HistoryEvent.Leak] = []
    var missingRecords = 0
    var crashes: [String] = []
    var badDrains: [String] = []
    var slowestDrain: Int64 = 0
    var isEnded: Bool { end != nil }

    /// What is known of one notification.
    struct Trace: Sendable {
        var number: Int?
        var recipient: String?
        var wasSent = false
        /// Sends that the hub took, by platform.
        var hubAccepted: [String: Int] = [:]
        var pushedTo: Set<String> = []
        var readers: Set<String> = []
        var numbersRead: Set<Int> = []
        var shown: [String: Int] = [:]
        /// What was seen to be settled, by platform.
        var settled: [String: HistoryEvent.Record.Delivery] = [:]
        var record: HistoryEvent.Record?
    }

    public init() {}

    /// Judges a whole history at once.
    public static func check(_ events: some Sequence<HistoryEvent>) -> Verdict {
        var checker = Checker()
        for event in events { checker.take(event) }
        return checker.verdict()
    }

    /// Takes the next event, in the order of the history.
    public mutating func take(_ event: HistoryEvent) {
        switch event {
        case .run(let run): self.run = run
        case .device(let device): devices[device.name] = device
        case .send(let send): take(send)
        case .hub(let send): take(send)
        case .fetch(let fetch): take(fetch)
        case .show(let show): notifications[show.id, default: Trace()].shown[show.device, default: 0] += 1
        case .nemesis(let nemesis): take(nemesis)
        case .record(let record): take(record)
        case .letter(let letter):
            letters += 1
            if letter.id == nil { lettersWithoutID += 1 }
        case .leak(let leak): leaks.append(leak)
        case .gap(let gap): missingRecords += gap.missing
        case .exit(let exit): take(exit)
        case .end(let end): self.end = end
        }
    }

    private mutating func take(_ send: HistoryEvent.Send) {
        if let status = send.status { statuses[status, default: 0] += 1 }
        switch send.phase {
        case .invoke:
            requests += 1
            invoked.insert(send.number)
        case .ok:
            guard let id = send.id else { return }
            answers[send.number, default: []].insert(id)
            notifications[id, default: Trace()].number = send.number
            notifications[id]?.recipient = send.recipient
            lastTrouble = max(lastTrouble, send.time)
        case .fail: refused.insert(send.number)
        case .unknown: if send.status == nil { statuses[0, default: 0] += 1 }
        }
    }

    private mutating func take(_ send: HistoryEvent.HubSend) {
        hubSends += 1
        guard let id = send.id else {
            unreadableSends += 1
            return
        }
        notifications[id, default: Trace()].wasSent = true
        guard send.accepted else { return }
        hubAccepted += 1
        notifications[id]?.hubAccepted[send.platform, default: 0] += 1
        for device in send.devices { notifications[id]?.pushedTo.insert(device) }
    }

    private mutating func take(_ fetch: HistoryEvent.Fetch) {
        guard fetch.status == 200 else { return }
        notifications[fetch.id, default: Trace()].readers.insert(fetch.user)
        // What came without a number is not what was sent.
        notifications[fetch.id]?.numbersRead.insert(fetch.number ?? -1)
    }

    private mutating func take(_ nemesis: HistoryEvent.Nemesis) {
        lastTrouble = max(lastTrouble, nemesis.time)
        switch nemesis.phase {
        case .begin:
            open[nemesis.fault, default: 0] += 1
            let kind = nemesis.fault.prefix { $0 != "-" }
            faultCounts[String(kind), default: 0] += 1
        case .end:
            open[nemesis.fault, default: 0] -= 1
            healed += nemesis.healed ?? 0
            if let failure = nemesis.failure { faultFailures.append("\(nemesis.fault): \(failure)") }
        }
    }

    private mutating func take(_ record: HistoryEvent.Record) {
        var trace = notifications[record.id, default: Trace()]
        for (platform, settled) in trace.settled {
            let now = record.deliveries.first { $0.platform == platform }
            if now?.state != settled.state || now?.attempts != settled.attempts { overwritten += 1 }
        }
        for delivery in record.deliveries where Self.isSettled(delivery.state) {
            trace.settled[delivery.platform] = delivery
        }
        if record.isFinal { trace.record = record }
        notifications[record.id] = trace
    }

    private mutating func take(_ exit: HistoryEvent.Exit) {
        guard exit.isAsked else {
            crashes.append(exit.service)
            return
        }
        slowestDrain = max(slowestDrain, exit.took ?? 0)
        if exit.code != 0 || exit.took ?? 0 > 10_000 { badDrains.append(exit.service) }
    }

    static func isSettled(_ state: String) -> Bool { ["sent", "dead", "skipped"].contains(state) }
}
