import HTTPTypes

/// Takes a notification: lets faults happen, finds the devices, writes the record, delivers.
struct NotificationIntake: Sendable {
    /// The hub's limit for a debug send.
    static let maximumTestDevices = 10

    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable
    let schedules: ScheduleBook

    /// What the hub did with a send.
    struct Receipt: Sendable {
        let record: RecordedRequest
        let targets: [DeliveryTarget]
    }

    /// - Throws: what a fault answers; the record is written all the same.
    func take(_ send: SendRequest, context: EmulatorContext) async throws -> Receipt {
        let effect = faults.effect(
            on: send.operation, platform: send.format, tags: { send.expression?.tags ?? [] })
        if effect.latencyMilliseconds > 0 { try await faults.delay(effect) }
        let record = send.record(effect: effect)
        if effect.refuses {
            log.append(record)
            try await faults.answer(effect, context: context)
        }
        let receipt = try accept(record, send, effect.fate)
        if effect.fault != nil { try await faults.answer(effect, context: context) }
        return receipt
    }

    private func accept(
        _ record: consuming RecordedRequest, _ send: SendRequest, _ fate: FaultEffect.Fate?
    ) throws(HubError) -> Receipt {
        var record = record
        guard let dueAt = send.dueAt else {
            var targets = Self.refusingOversize(try targets(of: send), send.headers)
            if send.kind == .test { targets = Array(targets.shuffled().prefix(Self.maximumTestDevices)) }
            return finish(record, targets, fate)
        }
        try schedules.checkRoom()
        record.outcome = .scheduled
        record = log.append(record)
        schedules.add(
            ScheduledSend(
                id: record.id, hubKey: send.call.hubKey, hub: send.call.hub, format: send.format, tags: send.tags,
                headers: record.headers, body: send.body, dueAt: dueAt, fate: fate, sequence: record.sequence))
        return Receipt(record: record, targets: [])
    }

    /// Delivers a send whose time has come.
    func deliver(_ scheduled: ScheduledSend) {
        // The expression was read when it was scheduled; who is meant is decided now.
        let expression = try? TagExpression.parse(scheduled.tags)
        let registrations = hubs.targets(scheduled.hubKey, format: scheduled.format, expression: expression)
        let targets = Self.refusingOversize(
            (try? DeliveryTarget.all(registrations, body: scheduled.body)) ?? [], scheduled.headers)
        var record = RecordedRequest(
            id: scheduled.id, kind: .scheduled, hub: scheduled.hub, format: scheduled.format, tags: scheduled.tags,
            headers: scheduled.headers, body: scheduled.body, receivedAt: .now)
        record.dueAt = scheduled.dueAt
        decide(&record, targets, scheduled.fate)
        let finished = record
        let isKept = log.update(scheduled.sequence) { kept in
            guard kept.id == scheduled.id else { return }
            kept.results = finished.results
            kept.outcomeCounts = finished.outcomeCounts
            kept.outcome = finished.outcome
            kept.completedAt = finished.completedAt
        }
        if !isKept { log.append(finished) }
        handOver(finished, targets)
    }

    /// APNs refuses what is too large, and the hub does not tell the sender: it is lost.
    private static func refusingOversize(_ targets: [DeliveryTarget], _ headers: HTTPFields) -> [DeliveryTarget] {
        guard targets.contains(where: { $0.format == .apple && $0.body.count > PlatformRules.maxAppleBytes }) else {
            return targets
        }
        let pushType = headers[HubHeaders.applePushType] ?? headers[HubHeaders.xApplePushType]
        return targets.map { target in
            guard target.outcome == .success, target.format == .apple,
                target.body.count > PlatformRules.maxAppleBytes(pushType: target.headers?["apns-push-type"] ?? pushType)
            else { return target }
            var refused = target
            refused.outcome = .invalidNotificationSize
            return refused
        }
    }

    private func targets(of send: SendRequest) throws(HubError) -> [DeliveryTarget] {
        guard send.handles.isEmpty else {
            var seen: Set<String> = []
            return send.handles.map { handle in
                let isRepeated = send.handles.count > 1 && !seen.insert(handle.lowercased()).inserted
                // A push service knows the devices that it gave handles to: those that registered or ever connected.
                return DeliveryTarget(
                    handle: handle, format: send.format, body: send.body,
                    outcome: isRepeated ? .skipped : devices.knows(handle) ? .success : .badChannel)
            }
        }
        let registrations = hubs.targets(send.call.hubKey, format: send.format, expression: send.expression)
        return try DeliveryTarget.all(registrations, body: send.body)
    }

    private func finish(
        _ record: consuming RecordedRequest, _ targets: [DeliveryTarget], _ fate: FaultEffect.Fate?
    ) -> Receipt {
        var record = record
        decide(&record, targets, fate)
        let kept = log.append(record)
        handOver(kept, targets)
        return Receipt(record: kept, targets: targets)
    }

    /// Writes into the record what becomes of the send at each device.
    private func decide(_ record: inout RecordedRequest, _ targets: [DeliveryTarget], _ fate: FaultEffect.Fate?) {
        record.completedAt = record.receivedAt
        guard !targets.isEmpty else {
            record.outcome = .noTargetFound
            return
        }
        guard fate != .swallowed else {
            record.outcome = .faulted
            return
        }
        record.results.reserveCapacity(min(targets.count, RecordedRequest.maximumResults))
        for target in targets {
            var outcome = target.outcome
            if case .outcome(let injected) = fate, outcome == .success { outcome = injected }
            record.outcomeCounts.count(target.format, outcome)
            if record.results.count < RecordedRequest.maximumResults {
                record.results.append(
                    DeliveryResult(handle: target.handle, format: target.format, outcome: outcome))
            }
        }
        record.outcome = .completed
    }

    /// Hands the notification to the devices, unless a fault decided otherwise.
    private func handOver(_ record: RecordedRequest, _ targets: [DeliveryTarget]) {
        guard record.outcomeCounts.contains(where: { $0.outcome == .success }) else { return }
        for target in targets where target.outcome == .success {
            let push = DevicePush(
                platform: target.format, body: target.body, requestHeaders: record.headers,
                templateHeaders: target.headers, messageID: record.id, receivedAt: record.completedAt ?? .now)
            devices.deliver(push, to: target.handle)
        }
    }
}
