import Foundations
import HTTPTypes

/// Processes sends: applies faults, finds the devices, delivers, writes the record.
struct SendProcessor: Sendable {
    /// The hub's limit for the devices of a debug send.
    private static let maxTestDevices = 10
    /// The most devices of a send that the event loop of its connection pushes to.
    private static let maxOnEventLoop = 10

    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable
    let schedules: ScheduleTable
    let delivery: HubDelivery

    struct Receipt: Sendable {
        let record: RecordedRequest
        /// The first devices, at most ``RecordedRequest/maxResults``.
        let targets: [DeliveryTarget]
    }

    /// - Throws: the error of a fault, after the record was written; 400 or 403; 429 or 503 if the caller has to send
    ///   again; or ``StorageError``.
    func process(_ send: SendRequest, context: EmulatorContext) async throws -> Receipt {
        let effect = faults.effect(
            on: send.operation, platform: send.format, tags: { send.expression?.tags ?? [] })
        try await effect.delay()
        let record = send.record(effect: effect)
        if effect.refuses {
            log.append(record)
            try await effect.answer(context)
        }
        let receipt =
            if let dueAt = send.dueAt {
                try await schedule(record, send, effect.fate, at: dueAt)
            } else {
                try await deliver(record, send, effect.fate)
            }
        try await effect.answer(context)
        return receipt
    }

    private func schedule(
        _ record: RecordedRequest, _ send: SendRequest, _ fate: FaultEffect.Fate?, at dueAt: Timestamp
    ) async throws -> Receipt {
        var record = record
        try await schedules.checkCapacity()
        record.outcome = .scheduled
        record = log.append(record)
        // First: when the send is delivered, its results replace these.
        try await delivery.messages.keep(record.message([], purgeAt: dueAt + delivery.settings.retention))
        try await schedules.add(
            ScheduledSend(
                id: record.id, hub: send.call.hub, format: send.format, tags: send.tags, headers: record.headers,
                body: send.body, dueAt: dueAt, fate: fate, sequence: record.sequence))
        return Receipt(record: record, targets: [])
    }

    private func deliver(
        _ record: RecordedRequest, _ send: SendRequest, _ fate: FaultEffect.Fate?
    ) async throws -> Receipt {
        var run = SendRun(record, fate: fate, delivery: delivery)
        if send.handles.isEmpty {
            _ = try await deliver(&run, to: send.expression)
        } else {
            try await run.deliver(try await targets(of: send))
        }
        let kept = log.append(try await run.finish())
        simulate(kept, run.takeSimulated())
        return Receipt(record: kept, targets: run.shown)
    }

    /// - Returns: `false` if another process delivers the send meanwhile, or a client has cancelled it.
    /// - Throws: ``StorageError``; 503 if pushes could neither be sent nor stored; 400 if the stored send cannot be
    ///   read; `CancellationError` after a page of devices if the task is cancelled.
    func deliver(_ scheduled: ScheduledSend) async throws -> Bool {
        // The expression was checked when the send was scheduled; the targets are found now. An expression that cannot
        // be read any more must not select all devices.
        let expression = try TagExpression.parse(scheduled.tags)
        var record = RecordedRequest(
            id: scheduled.id, kind: .scheduled, hub: scheduled.hub, format: scheduled.format, tags: scheduled.tags,
            headers: scheduled.headers, body: scheduled.body, receivedAt: .now)
        record.dueAt = scheduled.dueAt
        var run = SendRun(record, fate: scheduled.fate, delivery: delivery, scheduled: scheduled)
        guard try await deliver(&run, to: expression) else { return false }
        let finished = try await run.finish()
        let isKept = log.update(scheduled.sequence) { kept in
            guard kept.id == scheduled.id else { return }
            kept.complete(as: finished)
        }
        if !isKept { log.append(finished) }
        simulate(finished, run.takeSimulated())
        return true
    }

    /// Delivers to the devices of a hub, page after page. A debug send goes to some devices of the first page that has
    /// any.
    ///
    /// - Returns: `false` if the send is scheduled, and is not this process's any more.
    private func deliver(_ run: inout SendRun, to expression: TagExpression?) async throws -> Bool {
        guard let format = run.record.format else { return true }
        let first = try await hubs.targets(run.hubKey, format: format, expression: expression, after: 0)
        if first.next == nil, first.registrations.count <= Self.maxOnEventLoop {
            return try await deliver(&run, format, expression, from: first)
        }
        // The work for many devices would hold the other connections of an event loop.
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await deliver(&run, format, expression, from: first)
        }
    }

    private func deliver(
        _ run: inout SendRun, _ format: NotificationFormat, _ expression: TagExpression?, from first: HubDirectory.Page
    ) async throws -> Bool {
        var page = first
        while true {
            var place = page.next
            var targets = try run.targets(page.registrations)
            if run.record.kind == .test {
                targets = Array(targets.shuffled().prefix(Self.maxTestDevices))
                if !targets.isEmpty { place = nil }
            }
            try await run.deliver(targets)
            guard let place else { return true }
            if let scheduled = run.scheduled {
                // The results of these devices are written first, because they are not read again afterwards.
                simulate(run.record, run.takeSimulated())
                await run.keepOutcomes()
                guard try await schedules.advance(scheduled, to: max(place, scheduled.place)) else { return false }
                try Task.checkCancellation()
            }
            page = try await hubs.targets(run.hubKey, format: format, expression: expression, after: place)
        }
    }

    /// The devices of a direct send.
    private func targets(of send: SendRequest) async throws -> [DeliveryTarget] {
        let isSimulated = delivery.lanes.isSimulated(send.call.hubKey, send.format)
        let registered = isSimulated ? try await hubs.registered(send.handles, hub: send.call.hubKey) : []
        var seen: Set<String> = []
        return send.handles.map { handle in
            let isRepeated = send.handles.count > 1 && !seen.insert(handle.lowercased()).inserted
            // A push service knows its handles: the simulated one those of devices that registered or ever connected.
            let isKnown = !isSimulated || registered.contains(handle.lowercased()) || devices.knows(handle)
            var target = DeliveryTarget(
                handle: handle, format: send.format, body: send.body,
                outcome: isRepeated ? .skipped : isKnown ? .success : .badChannel)
            if send.format == .browser {
                (target.p256dh, target.auth) = (send.headers[HubHeaders.p256dh], send.headers[HubHeaders.auth])
            }
            return target
        }
    }

    /// Delivers the notification to simulated devices.
    private func simulate(_ record: RecordedRequest, _ targets: [DeliveryTarget]) {
        for target in targets {
            let push = DevicePush(
                platform: target.format, body: target.body, requestHeaders: record.headers,
                templateHeaders: target.headers, messageID: record.id, receivedAt: record.completedAt ?? .now)
            devices.deliver(push, to: target.handle, registrationID: target.registrationID)
        }
    }
}
