/// Checks a history, as Jepsen's total-queue does: every acknowledged notification was received, no other was received,
/// and every duplicate has a recorded reason.
///
/// It takes one event at a time, so that a history need not fit into memory. It keeps a few words for each notification
/// and device.
package struct Checker: Sendable {
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
    var withdrawalSends = 0
    /// When a dispatcher could not act on a read in time, by the fault's name: stopped, or without answers of the hub.
    var pauses: [Pause] = []
    /// When a hub of one's own could not note its pushes.
    var outages: [Outage] = []
    /// By platform.
    var pushServices: [String: HistoryEvent.PushService] = [:]
    var missingRecords = 0
    var crashes: [String] = []
    var badDrains: [String] = []
    var slowestDrain: Int64 = 0
    var isEnded: Bool { end != nil }

    /// The events of one notification.
    struct Trace: Sendable {
        var number: Int?
        var recipient: String?
        var wasSent = false
        /// The times of the pushes that the hub took, by platform; with hubs of one's own by device, and taken by the
        /// push service.
        var pushes: [String: [Int64]] = [:]
        /// The times of those whose answer may be lost.
        var lostAnswers: [String: [Int64]] = [:]
        /// How many withdrawals the hub took, by platform or device.
        var withdrawals: [String: Int] = [:]
        var pushedTo: Set<String> = []
        var withdrawnFrom: Set<String> = []
        var readers: Set<String> = []
        /// The time of the recipient's first successful fetch.
        var firstRead: Int64?
        var numbersRead: Set<Int> = []
        var shown: [String: Int] = [:]
        var hidden: Set<String> = []
        /// How many reminders were asked for.
        var reminders = 0
        var isRevoked = false
        /// The final deliveries, by platform.
        var settled: [String: HistoryEvent.Record.Delivery] = [:]
        var record: HistoryEvent.Record?
    }

    package init() {}

    /// Judges a whole history at once.
    package static func check(_ events: some Sequence<HistoryEvent>) -> Verdict {
        var checker = Checker()
        for event in events { checker.take(event) }
        return checker.verdict()
    }

    /// Takes the next event, in the order of the history.
    package mutating func take(_ event: HistoryEvent) {
        switch event {
        case .run(let run): self.run = run
        case .device(let device): devices[device.name] = device
        case .send(let send): take(send)
        case .hub(let send): take(send)
        case .fetch(let fetch): take(fetch)
        case .show(let show): notifications[show.id, default: Trace()].shown[show.device, default: 0] += 1
        case .hide(let hide): notifications[hide.id, default: Trace()].hidden.insert(hide.device)
        case .revoke(let revoke):
            notifications[revoke.id, default: Trace()].isRevoked = true
            lastTrouble = max(lastTrouble, revoke.time)
        case .nemesis(let nemesis): take(nemesis)
        case .record(let record): take(record)
        case .letter(let letter):
            letters += 1
            if letter.id == nil { lettersWithoutID += 1 }
        case .leak(let leak): leaks.append(leak)
        case .pushService(let state): pushServices[state.platform ?? "browser"] = state
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
            notifications[id]?.reminders = send.reminders ?? 0
            lastTrouble = max(lastTrouble, send.time)
        case .fail: refused.insert(send.number)
        case .unknown: if send.status == nil { statuses[0, default: 0] += 1 }
        }
    }

    private mutating func take(_ send: HistoryEvent.HubSend) {
        if send.withdraws == true { withdrawalSends += 1 } else { hubSends += 1 }
        guard let id = send.id else {
            unreadableSends += 1
            return
        }
        notifications[id, default: Trace()].wasSent = true
        guard send.accepted else { return }
        let audience = isOwn ? send.devices.first ?? send.platform : send.platform
        if send.withdraws == true {
            notifications[id]?.withdrawals[audience, default: 0] += 1
            notifications[id]?.withdrawnFrom.formUnion(send.devices)
            return
        }
        hubAccepted += 1
        notifications[id]?.pushes[audience, default: []].append(send.time)
        if send.status == nil { notifications[id]?.lostAnswers[audience, default: []].append(send.time) }
        for device in send.devices { notifications[id]?.pushedTo.insert(device) }
    }

    private mutating func take(_ fetch: HistoryEvent.Fetch) {
        guard fetch.status == 200 else { return }
        var trace = notifications[fetch.id, default: Trace()]
        trace.readers.insert(fetch.user)
        if fetch.reason != .probe { trace.firstRead = min(trace.firstRead ?? .max, fetch.time) }
        // A payload without a number is none that was sent.
        trace.numbersRead.insert(fetch.number ?? -1)
        notifications[fetch.id] = trace
    }

    private mutating func take(_ nemesis: HistoryEvent.Nemesis) {
        lastTrouble = max(lastTrouble, nemesis.time)
        note(pause: nemesis)
        note(outage: nemesis)
        switch nemesis.phase {
        case .begin:
            open[nemesis.fault, default: 0] += 1
            // `read-only postgres-1` without the number.
            let end = nemesis.fault.lastIndex(of: "-") ?? nemesis.fault.endIndex
            faultCounts[String(nemesis.fault[..<end]), default: 0] += 1
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

extension Checker {
    /// The bars, as the headline experiment sets them.
    static let allowedDuplicates = 0.02
    static let allowedDead = 0.02
    static let allowedDrain: Int64 = 60_000

    /// The verdict on the whole history.
    package func verdict() -> Verdict {
        var verdict = Verdict(seed: run?.plan.request.seed, faults: faultCounts)
        addWork(to: &verdict)
        let tally = tally()
        addPromises(to: &verdict, tally)
        addDevices(to: &verdict)
        addReminders(to: &verdict)
        addWithdrawals(to: &verdict)
        addHubs(to: &verdict, tally)
        addSecrecy(to: &verdict)
        addProcesses(to: &verdict)
        return verdict
    }

    /// The sums over all notifications.
    struct Tally {
        var lost = 0
        /// The part of a platform.
        var lostOf: [String: Int] = [:]
        var ghosts = 0
        var duplicates = 0
        var explained = 0
        /// The part of a platform.
        var unexplainedOf: [String: Int] = [:]
        var unsettled = 0
        var dead = 0
        /// The deliveries that are settled.
        var settled = 0
        var strangers = 0
        var settledAt: Int64 = 0
    }

    private func tally() -> Tally {
        var tally = Tally()
        let platforms = run?.platforms ?? []
        let ofUser = Dictionary(grouping: devices.values, by: \.user)
        for trace in notifications.values {
            if trace.number == nil, trace.record == nil, trace.wasSent { tally.ghosts += 1 }
            if trace.number == nil, trace.record != nil { tally.strangers += 1 }
            for audience in trace.pushes.keys {
                let duplicates = trace.duplicates(audience)
                let explained = min(duplicates, reasons(for: trace, audience))
                tally.duplicates += duplicates
                tally.explained += explained
                tally.unexplainedOf[platform(of: audience), default: 0] += duplicates - explained
            }
            guard trace.number != nil || trace.record != nil else { continue }
            let isOver = trace.record.map { $0.isExpired || $0.isRevoked } ?? false
            for platform in platforms {
                let delivery = trace.delivery(platform)
                if let delivery, Self.isSettled(delivery.state) {
                    tally.settledAt = max(tally.settledAt, delivery.updatedAt)
                    tally.settled += 1
                    if delivery.state == "dead" { tally.dead += 1 }
                } else if !isOver {
                    tally.unsettled += 1
                }
                guard trace.number != nil, !isOver else { continue }
                let isVisible = delivery.map { $0.state == "dead" || $0.state == "skipped" } ?? false
                if isVisible { continue }
                let lost = audiences(of: trace, platform, ofUser).count { trace.pushes[$0] == nil }
                tally.lost += lost
                tally.lostOf[platform, default: 0] += lost
            }
        }
        return tally
    }

    private func addWork(to verdict: inout Verdict) {
        let expected = run?.count ?? 0
        verdict.note("notifications to be sent", expected)
        verdict.note("requests to ingest", requests)
        for (status, count) in statuses.sorted(by: { $0.key < $1.key }) {
            verdict.note(status == 0 ? "  without an answer" : "  answered \(status)", count)
        }
        let unanswered = invoked.filter { answers[$0] == nil }.count + max(0, expected - invoked.count)
        verdict.bar("accepted (201)", answers.count, "= \(expected)", answers.count == expected)
        verdict.bar("never accepted", unanswered, "0", unanswered == 0)
        verdict.bar("refused (4xx)", refused.count, "0", refused.isEmpty)
        let twice = answers.values.filter { $0.count > 1 }.count
        verdict.bar("two IDs under one idempotency key", twice, "0", twice == 0)
    }

    private func addPromises(to verdict: inout Verdict, _ tally: Tally) {
        verdict.note("sends that reached the hub", hubSends)
        verdict.note("  of which it took", hubAccepted)
        let lostOf = isOwn ? "device" : "platform"
        verdict.bar("lost (notification and \(lostOf))", tally.lost, "0", tally.lost == 0)
        let ghosts = tally.ghosts + unreadableSends
        verdict.bar("ghosts: sends of unknown IDs", ghosts, "0", ghosts == 0)
        // Under idempotency keys a row that no answer named can only belong to a number that was never answered.
        let unanswered = invoked.filter { answers[$0] == nil }.count
        verdict.bar("stored but never answered", tally.strangers, "≤ \(unanswered)", tally.strangers <= unanswered)
        let share = hubAccepted == 0 ? 0 : Double(tally.duplicates) / Double(hubAccepted)
        let allowance = run?.allowance ?? 0
        let explained = "\(tally.explained) (all: \(Verdict.percent(share)) of the sends)"
        if isOwn {
            // The push service alone loses more answers than 2 %.
            verdict.note("duplicate sends, explained", explained)
        } else {
            verdict.bar(
                "duplicate sends, explained", explained, allowance == 0 ? "≤ 2 %" : "≤ 2 % + \(allowance)",
                Double(tally.duplicates) <= Self.allowedDuplicates * Double(hubAccepted) + Double(allowance))
        }
        let unexplained = tally.duplicates - tally.explained
        verdict.bar("duplicate sends, unexplained", unexplained, "0", unexplained == 0)
        verdict.bar("settled states overwritten", overwritten, "0", overwritten == 0)
        verdict.bar("not settled at the end", tally.unsettled, "0", tally.unsettled == 0)
        let drain = max(0, tally.settledAt - lastTrouble)
        verdict.bar(
            "drained after the last fault", tally.unsettled == 0 ? Verdict.seconds(drain) : "never", "≤ 60 s",
            tally.unsettled == 0 && drain <= Self.allowedDrain)
        let dead = "deliveries that are dead, visibly"
        if isOwn {
            // The hub keeps what it accepts, and the dispatcher tries the rest again, so few may be given up.
            let allowed = Self.allowedDead * Double(tally.settled)
            verdict.bar(dead, tally.dead, "≤ 2 %", Double(tally.dead) <= allowed)
        } else {
            verdict.note(dead, tally.dead)
        }
        verdict.note("messages in the dead-letter queue", letters)
        verdict.bar("  of which hold no ID", lettersWithoutID, "0", lettersWithoutID == 0)
    }

    private func addDevices(to verdict: inout Verdict) {
        let ofUser = Dictionary(grouping: devices.values, by: \.user)
        var (twice, missing, unseen, misread, misdirected, mixed, shown) = (0, 0, 0, 0, 0, 0, 0)
        for trace in notifications.values {
            twice += trace.shown.values.reduce(0) { $0 + $1 - 1 }
            shown += trace.shown.count
            guard let recipient = trace.recipient ?? trace.record?.recipient else { continue }
            misread += trace.readers.subtracting([recipient]).count
            misdirected += trace.pushedTo.count { devices[$0]?.user != recipient }
            if let number = trace.number { mixed += trace.numbersRead.subtracting([number]).count }
            guard trace.number != nil, !trace.wasRevoked else { continue }
            if trace.shown.isEmpty { unseen += 1 }
            // If a reading withdraws the notification, the user's other devices need not show it.
            if run?.withdraw == "read", !trace.withdrawals.isEmpty { continue }
            for device in ofUser[recipient] ?? [] where trace.shown[device.name] == nil { missing += 1 }
        }
        verdict.note("devices", devices.count)
        verdict.note("shown on a device", shown)
        verdict.bar("shown twice on a device", twice, "0", twice == 0)
        verdict.bar("not shown on a live device", missing, "0", missing == 0)
        verdict.bar("shown on no device of the user", unseen, "0", unseen == 0)
        verdict.bar("pushed to a wrong device", misdirected, "0", misdirected == 0)
        verdict.bar("fetched by a wrong device", misread, "0", misread == 0)
        verdict.bar("fetched with another payload", mixed, "0", mixed == 0)
    }

    private func addSecrecy(to verdict: inout Verdict) {
        let places = Dictionary(grouping: leaks) { "\($0.subject ?? "payload") in \($0.place)" }
        for (place, leaks) in places.sorted(by: { $0.key < $1.key }) {
            let found = leaks.reduce(0) { $0 + $1.found }
            let bytes = leaks.reduce(0) { $0 + $1.searchedBytes }
            // A search through nothing proves nothing, and neither does a history without a search.
            let value = bytes > 0 ? "\(found)" : "nothing searched"
            verdict.bar("\(place) (\(Verdict.size(bytes)))", value, "0", found == 0 && bytes > 0)
        }
        if places.isEmpty { verdict.bar("searched for payloads", "nowhere", "everywhere", false) }
    }

    private func addProcesses(to verdict: inout Verdict) {
        for (fault, count) in faultCounts.sorted(by: { $0.key < $1.key }) { verdict.note("fault: \(fault)", count) }
        let undone = open.values.reduce(0, +)
        verdict.bar("faults not undone", undone, "0", undone == 0)
        let planned = run?.plan.faults.count ?? 0
        let done = run.map { run in
            Set(run.plan.faults.map(\.kind)).reduce(0) { $0 + faultCounts[$1, default: 0] }
        }
        verdict.bar("faults done as planned", done ?? 0, "= \(planned)", done ?? 0 == planned)
        verdict.bar("faults that failed", faultFailures.count, "0", faultFailures.isEmpty)
        for failure in faultFailures { verdict.remark(failure) }
        verdict.note("queues healed (rabbitmq-server issue 10070)", healed)
        verdict.bar("services that ended unasked", crashes.count, "0", crashes.isEmpty)
        for service in crashes { verdict.remark("\(service) ended unasked") }
        verdict.note("slowest drain on SIGTERM", Verdict.seconds(slowestDrain))
        verdict.bar("SIGTERM not obeyed with 0 within 10 s", badDrains.count, "0", badDrains.isEmpty)
        for service in badDrains { verdict.remark("\(service) did not drain") }
        verdict.bar("hub records missed", missingRecords, "0", missingRecords == 0)
        let isWhole = end.map { $0.failure == nil } ?? false
        verdict.bar("came to its end", isWhole ? "yes" : "no", "yes", isWhole)
        if let failure = end?.failure { verdict.remark("broken off: \(failure)") }
    }
}

extension Checker.Trace {
    func delivery(_ platform: String) -> HistoryEvent.Record.Delivery? {
        record?.deliveries.first { $0.platform == platform }
    }
}
