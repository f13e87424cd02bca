import Foundations
import HTTPTypes

/// Processes sends: lets faults happen, finds the devices, writes the record, delivers.
struct SendProcessor: Sendable {
    /// The hub's limit for the devices of a debug send.
    private static let maxTestDevices = 10

    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable
    let schedules: ScheduleTable

    struct Receipt: Sendable {
        let record: RecordedRequest
        let targets: [DeliveryTarget]
    }

    /// - Throws: the error of a fault, after the record was written, or 400 or 403.
    func process(_ send: SendRequest, context: EmulatorContext) async throws -> Receipt {
        let effect = faults.effect(
            on: send.operation, platform: send.format, tags: { send.expression?.tags ?? [] })
        try await effect.delay()
        let record = send.record(effect: effect)
        if effect.refuses {
            log.append(record)
            try await effect.answer(context)
        }
        let receipt = try await accept(record, send, effect.fate)
        try await effect.answer(context)
        return receipt
    }

    private func accept(
        _ record: RecordedRequest, _ send: SendRequest, _ fate: FaultEffect.Fate?
    ) async throws -> Receipt {
        var record = record
        guard let dueAt = send.dueAt else {
            var targets = Self.refusingOversize(try await targets(of: send), send.headers)
            if send.kind == .test { targets = Array(targets.shuffled().prefix(Self.maxTestDevices)) }
            return finish(record, targets, fate)
        }
        try await schedules.checkCapacity()
        record.outcome = .scheduled
        record = log.append(record)
        try await schedules.add(
            ScheduledSend(
                id: record.id, hub: send.call.hub, format: send.format, tags: send.tags, headers: record.headers,
                body: send.body, dueAt: dueAt, fate: fate, sequence: record.sequence))
        return Receipt(record: record, targets: [])
    }

    /// - Throws: ``StorageError``.
    func deliver(_ scheduled: ScheduledSend) async throws {
        // The expression was checked when the send was scheduled; the target is found now.
        let expression = try? TagExpression.parse(scheduled.tags)
        let registrations = try await hubs.targets(scheduled.hubKey, format: scheduled.format, expression: expression)
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
            kept.complete(as: finished)
        }
        if !isKept { log.append(finished) }
        deliver(finished, targets)
    }

    /// Marks notifications that APNs refuses because of their size: they are lost, and the sender is not told.
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

    private func targets(of send: SendRequest) async throws -> [DeliveryTarget] {
        guard send.handles.isEmpty else {
            let registered = try await hubs.registered(send.handles, hub: send.call.hubKey)
            var seen: Set<String> = []
            return send.handles.map { handle in
                let isRepeated = send.handles.count > 1 && !seen.insert(handle.lowercased()).inserted
                // A push service knows its handles: those of devices that registered or ever connected.
                return DeliveryTarget(
                    handle: handle, format: send.format, body: send.body,
                    outcome: isRepeated
                        ? .skipped
                        : registered.contains(handle.lowercased()) || devices.knows(handle) ? .success : .badChannel)
            }
        }
        let registrations = try await hubs.targets(send.call.hubKey, format: send.format, expression: send.expression)
        return try DeliveryTarget.all(registrations, body: send.body)
    }

    private func finish(
        _ record: consuming RecordedRequest, _ targets: [DeliveryTarget], _ fate: FaultEffect.Fate?
    ) -> Receipt {
        var record = record
        decide(&record, targets, fate)
        let kept = log.append(record)
        deliver(kept, targets)
        return Receipt(record: kept, targets: targets)
    }

    /// Adds the result at each device to the record.
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
        for target in targets {
            var outcome = target.outcome
            if case .outcome(let injected) = fate, outcome == .success { outcome = injected }
            record.add(DeliveryResult(handle: target.handle, format: target.format, outcome: outcome))
        }
        record.outcome = .completed
    }

    /// Delivers the notification to the devices, unless a fault decided otherwise.
    private func deliver(_ record: RecordedRequest, _ targets: [DeliveryTarget]) {
        guard record.outcomeCounts.contains(where: { $0.outcome == .success }) else { return }
        for target in targets where target.outcome == .success {
            let push = DevicePush(
                platform: target.format, body: target.body, requestHeaders: record.headers,
                templateHeaders: target.headers, messageID: record.id, receivedAt: record.completedAt ?? .now)
            devices.deliver(push, to: target.handle, registrationID: target.registrationID)
        }
    }
}

/// One device of a send, and its notification.
struct DeliveryTarget: Sendable {
    let handle: String
    let format: NotificationFormat
    let body: [UInt8]
    /// The headers of the template; nil: those of the request are passed on.
    var headers: [String: String]?
    /// Nil for a direct send.
    var registrationID: String?
    /// The outcome before the delivery; success if it can be delivered.
    var outcome = DeliveryOutcome.success

    /// The targets of registrations; all but the first native registration of a device are skipped.
    ///
    /// - Throws: 400 when the body is not valid for a template.
    static func all(_ registrations: [RegistrationEntry], body: [UInt8]) throws(HubError) -> [DeliveryTarget] {
        guard let first = registrations.first else { return [] }
        if registrations.count == 1, !first.isTemplate { return [native(first, body)] }
        let properties = registrations.contains(where: \.isTemplate) ? try TemplateProperties(message: body) : nil
        var seen: Set<String> = []
        return registrations.map { registration in
            if let properties, registration.isTemplate { return template(registration, properties) }
            var target = native(registration, body)
            if !seen.insert(registration.handle).inserted { target.outcome = .skipped }
            return target
        }
    }

    private static func native(_ registration: RegistrationEntry, _ body: [UInt8]) -> DeliveryTarget {
        DeliveryTarget(
            handle: registration.handle, format: registration.format, body: body, registrationID: registration.id)
    }

    /// Two templates of one device get two notifications.
    private static func template(
        _ registration: RegistrationEntry, _ properties: TemplateProperties
    ) -> DeliveryTarget {
        let renderer = TemplateRenderer(registration, properties)
        return DeliveryTarget(
            handle: registration.handle, format: registration.format, body: Array(renderer.body.utf8),
            headers: renderer.headers, registrationID: registration.id)
    }
}
