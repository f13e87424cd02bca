import Foundations
import HTTPTypes

/// Processes sends: lets faults happen, finds the devices, delivers, writes the record.
struct SendProcessor: Sendable {
    /// The hub's limit for the devices of a debug send.
    private static let maxTestDevices = 10

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
        var record = send.record(effect: effect)
        if effect.refuses {
            log.append(record)
            try await effect.answer(context)
        }
        record.id = HubMessageID.make(at: record.receivedAt, isSchedule: send.dueAt != nil)
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
        try await schedules.add(
            ScheduledSend(
                id: record.id, hub: send.call.hub, format: send.format, tags: send.tags, headers: record.headers,
                body: send.body, dueAt: dueAt, fate: fate, sequence: record.sequence))
        delivery.messages.put(record.message([], purgeAt: dueAt + delivery.settings.retention))
        return Receipt(record: record, targets: [])
    }

    private func deliver(
        _ record: RecordedRequest, _ send: SendRequest, _ fate: FaultEffect.Fate?
    ) async throws -> Receipt {
        var run = SendRun(record, fate: fate, delivery: delivery, mayRefuse: true)
        if send.handles.isEmpty {
            var after: Int64? = 0
            while let place = after {
                let page = try await hubs.targets(
                    send.call.hubKey, format: send.format, expression: send.expression, after: place)
                var targets = try run.targets(page.registrations)
                after = page.next
                if send.kind == .test {
                    targets = Array(targets.shuffled().prefix(Self.maxTestDevices))
                    if !targets.isEmpty { after = nil }
                }
                try await run.deliver(targets)
            }
        } else {
            try await run.deliver(try await targets(of: send))
        }
        let kept = log.append(await run.finish())
        deliver(kept, run.simulated)
        return Receipt(record: kept, targets: run.shown)
    }

    /// - Throws: ``StorageError``, or 503 if what could not be pushed could not be stored.
    func deliver(_ scheduled: ScheduledSend) async throws {
        // The expression was checked when the send was scheduled; the target is found now.
        let expression = try? TagExpression.parse(scheduled.tags)
        var record = RecordedRequest(
            id: scheduled.id, kind: .scheduled, hub: scheduled.hub, format: scheduled.format, tags: scheduled.tags,
            headers: scheduled.headers, body: scheduled.body, receivedAt: .now)
        record.dueAt = scheduled.dueAt
        var run = SendRun(record, fate: scheduled.fate, delivery: delivery, mayRefuse: false)
        var after: Int64? = 0
        while let place = after {
            let page = try await hubs.targets(
                scheduled.hubKey, format: scheduled.format, expression: expression, after: place)
            try await run.deliver((try? run.targets(page.registrations)) ?? [])
            after = page.next
        }
        let finished = await run.finish()
        let isKept = log.update(scheduled.sequence) { kept in
            guard kept.id == scheduled.id else { return }
            kept.complete(as: finished)
        }
        if !isKept { log.append(finished) }
        deliver(finished, run.simulated)
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
    private func deliver(_ record: RecordedRequest, _ targets: [DeliveryTarget]) {
        for target in targets {
            let push = DevicePush(
                platform: target.format, body: target.body, requestHeaders: record.headers,
                templateHeaders: target.headers, messageID: record.id, receivedAt: record.completedAt ?? .now)
            devices.deliver(push, to: target.handle, registrationID: target.registrationID)
        }
    }
}
