import Domain
import Foundations
import HTTPTypes
import PushServices
import Storage

/// One send during its delivery to its devices, page after page.
struct SendRun: Sendable {
    private(set) var record: RecordedRequest
    /// The first devices, at most ``RecordedRequest/maxResults``.
    private(set) var shown: [DeliveryTarget] = []
    /// Nil for a send that goes out at once.
    let scheduled: ScheduledSend?
    /// The hub's name in lower case.
    let hubKey: String

    /// The span of the send's request.
    private let traceparent: String?
    private let fate: FaultEffect.Fate?
    private let delivery: HubDelivery
    private let deadline: ContinuousClock.Instant
    /// The simulated devices that get the notification.
    private var simulated: [DeliveryTarget] = []
    /// Whether the caller tries again if nothing could be pushed: so far no push was accepted, refused for good or left
    /// open. A scheduled send has no such caller.
    private var mayRefuse: Bool
    /// The pushes while ``mayRefuse`` holds.
    private var held = HeldPushes()
    private var hasTargets = false
    private var hasPushed = false
    /// Whether the message is in the store, because pushes are or an earlier page's outcomes.
    private var isStored: Bool
    /// The outcomes that are not in the store, one count for each platform and name.
    private var outcomes: [HubOutcome] = []
    private var seen: Set<DeliveryTarget.Identity> = []

    init(_ record: RecordedRequest, fate: FaultEffect.Fate?, delivery: HubDelivery, scheduled: ScheduledSend? = nil) {
        self.record = record
        self.delivery = delivery
        self.scheduled = scheduled
        let hubKey = record.hub.lowercased()
        self.hubKey = hubKey
        // Faults affect only simulated devices, and no push to a push service.
        let isReal = record.format.map { delivery.lanes.isReal(hubKey, $0) } ?? false
        self.fate = isReal ? nil : fate
        traceparent = record.headers[.traceparent].flatMap { TraceContext(traceparent: $0) }?.traceparent
        mayRefuse = scheduled == nil
        isStored = scheduled.map { $0.place > 0 } ?? false
        deadline = delivery.clock.instant() + delivery.settings.acceptTimeout
    }

    /// The devices of some registrations, without those that had their pushes before the service stopped.
    ///
    /// - Throws: 400 when the body is not valid for a template.
    mutating func targets(_ registrations: [RegistrationEntry]) throws(HubError) -> [DeliveryTarget] {
        let targets = try DeliveryTarget.all(registrations, body: record.body, seen: &seen)
        guard let start = scheduled?.place, start > 0 else { return targets }
        let left = zip(registrations, targets).filter { Int64($0.0.sequence) > start }.map(\.1)
        if left.count < targets.count { hasTargets = true }
        return left
    }

    /// Delivers to real devices, and decides about the others.
    ///
    /// - Throws: 429 or 503: the caller has to send again.
    mutating func deliver(_ found: [DeliveryTarget]) async throws(HubError) {
        if found.isEmpty { return }
        hasTargets = true
        if fate == .swallowed { return }
        var targets = DeliveryTarget.refusingOversize(found, record.headers)
        var places: [Int] = []
        var pushes: [Push] = []
        var lanes: [NotificationFormat: Bool] = [:]
        for index in targets.indices where targets[index].outcome == .success {
            let format = targets[index].format
            let isSimulated = lanes[format] ?? delivery.lanes.isSimulated(hubKey, format)
            lanes[format] = isSimulated
            if case .outcome(let injected) = fate {
                targets[index].outcome = injected
            } else if isSimulated {
                simulated.append(targets[index])
            } else if let push = push(to: targets[index]) {
                places.append(index)
                pushes.append(push)
            } else {
                targets[index].outcome = .badChannel
            }
        }
        noteFeedback(targets)
        let pushed = Set(places)
        let others = targets.indices.filter { !pushed.contains($0) }.map { targets[$0] }
        // A push that was refused before it was sent has ended too, and a push to a simulated device has arrived.
        if others.contains(where: { $0.outcome != .skipped }) { mayRefuse = false }
        outcomes = HubMessage.sum(outcomes + others.map(\.counted))
        if !pushes.isEmpty { try await push(pushes, to: places, of: &targets) }
        if !mayRefuse { try await storeHeld() }
        for target in targets {
            record.add(DeliveryResult(handle: target.handle, format: target.format, outcome: target.outcome))
        }
        shown += targets.prefix(RecordedRequest.maxResults - shown.count)
    }

    private mutating func push(
        _ pushes: [Push], to places: [Int], of targets: inout [DeliveryTarget]
    ) async throws(HubError) {
        record.outcome = .completed
        let parcel = HubDelivery.Parcel(message: message, pushes: pushes, deadline: deadline, mayRefuse: mayRefuse)
        switch try await delivery.deliver(parcel) {
        case .refused(let refused):
            held.add(refused)
            for place in places { targets[place].outcome = .unknown }
            // Their memory must have a bound, and so many are enough to decide.
            if held.pushes.count >= HeldPushes.limit { throw held.refusal }
        case .done(let results, let isStored):
            (mayRefuse, hasPushed) = (false, true)
            for (place, outcome) in zip(places, results) { targets[place].outcome = outcome }
            if isStored {
                (self.isStored, outcomes) = (true, [])
            } else {
                outcomes = HubMessage.sum(outcomes + places.map { targets[$0].counted })
            }
        }
    }

    /// Stores the pushes that could have been refused, because another one was not.
    private mutating func storeHeld() async throws(HubError) {
        if held.pushes.isEmpty { return }
        try await delivery.store(held, of: message)
        (held, isStored, outcomes, hasPushed) = (HeldPushes(), true, [], true)
    }

    /// Writes the outcomes of the pages so far: a process that goes on with the send adds to them.
    mutating func keepOutcomes() async {
        if outcomes.isEmpty { return }
        do {
            try await delivery.tables.keep([], of: message)
            (isStored, outcomes) = (true, [])
        } catch {
            // Only telemetry is delayed: they are written with those of the next page.
        }
    }

    /// The simulated devices of the pages since the last call.
    mutating func takeSimulated() -> [DeliveryTarget] {
        defer { simulated = [] }
        return simulated
    }

    /// The record of the send. Its results can be read as telemetry from now on.
    ///
    /// - Throws: 429 or 503: nothing of the send was pushed or stored, and the caller has to send again.
    mutating func finish() async throws(HubError) -> RecordedRequest {
        if !held.pushes.isEmpty { throw held.refusal }
        record.completedAt = hasPushed ? delivery.clock.now() : record.receivedAt
        record.outcome = !hasTargets ? .noTargetFound : fate == .swallowed ? .faulted : .completed
        if !isStored {
            delivery.messages.put(message)
            return record
        }
        delivery.messages.forget(record.id)
        if !outcomes.isEmpty || scheduled != nil {
            // If it fails, only telemetry lacks the message.
            try? await delivery.tables.keep([], of: message)
        }
        return record
    }

    private var message: HubMessage {
        record.message(outcomes, purgeAt: record.receivedAt + delivery.settings.retention)
    }

    /// `nil` if the subscription of a browser lacks its keys.
    private func push(to target: DeliveryTarget) -> Push? {
        var address = PushAddress.handle(target.handle)
        if target.format == .browser {
            guard let p256dh = target.p256dh, let auth = target.auth, !p256dh.isEmpty, !auth.isEmpty else { return nil }
            address = .subscription(endpoint: target.handle, p256dh: p256dh, auth: auth)
        }
        let headers = NativeHeaders.make(target.headers, record.headers, platform: target.format)
        return Push(
            lane: HubLaneKey(hub: hubKey, platform: target.format.rawValue), messageID: record.id,
            request: PushRequest(
                address: address, body: target.body, headers: headers,
                expiresAt: expiry(of: target, headers), keyHint: target.pushKey),
            handle: target.handle, registrationID: target.registrationID, installationID: target.installationID,
            sentAt: record.receivedAt, traceparent: traceparent)
    }

    private func expiry(of target: DeliveryTarget, _ headers: [String: String]) -> Timestamp? {
        switch target.format {
        case .fcmv1, .gcm: FCMTimeToLive.of(target.body).map { record.receivedAt + $0 }
        default: NativeHeaders.expiry(headers, receivedAt: record.receivedAt)
        }
    }

    /// The answer of a simulated push service about a handle. No device is removed.
    private func noteFeedback(_ targets: [DeliveryTarget]) {
        delivery.feedback.put(
            targets.filter { HubFeedbackRow.rejections.contains($0.outcome) }.map { target in
                HubFeedbackRow(
                    hub: hubKey, notedAt: delivery.clock.now(), error: target.outcome.rawValue,
                    platform: target.format.rawValue, handle: target.handle, registrationID: target.registrationID,
                    installationID: target.installationID, messageID: record.id)
            })
    }
}

extension DeliveryTarget {
    fileprivate var counted: HubOutcome { HubOutcome(platform: format.rawValue, name: outcome.rawValue, count: 1) }
}

extension RecordedRequest {
    /// The message of the send in the store.
    func message(_ outcomes: [HubOutcome], purgeAt: Timestamp) -> HubMessage {
        let state: MessageState =
            switch outcome {
            case .completed: .completed
            case .noTargetFound: .noTargetFound
            case .scheduled: .scheduled
            case .cancelled: .cancelled
            // Swallowed: the hub accepted it and makes no progress.
            case .faulted: .processing
            }
        return HubMessage(
            id: id, hub: hub.lowercased(), state: state.rawValue, enqueuedAt: receivedAt, completedAt: completedAt,
            tags: tags, outcomes: outcomes, body: body, purgeAt: purgeAt)
    }
}
