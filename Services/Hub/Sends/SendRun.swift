import Domain
import Foundations
import PushServices
import Storage

/// One send on its way to its devices, a page of them after the other.
struct SendRun: Sendable {
    private(set) var record: RecordedRequest
    /// The simulated devices that get the notification, once it is in the record log.
    private(set) var simulated: [DeliveryTarget] = []
    /// The first devices, at most ``RecordedRequest/maxResults``.
    private(set) var shown: [DeliveryTarget] = []

    private let fate: FaultEffect.Fate?
    private let delivery: HubDelivery
    private let deadline: ContinuousClock.Instant
    /// Whether the caller tries again if nothing could be pushed.
    private var mayRefuse: Bool
    private var hasTargets = false
    private var hasPushed = false
    /// Whether the message is in the store, because pushes are.
    private var isStored = false
    /// The outcomes that are not in the store, one count for each platform and name.
    private var outcomes: [HubOutcome] = []
    private var seen: Set<String> = []

    private let hubKey: String

    init(_ record: RecordedRequest, fate: FaultEffect.Fate?, delivery: HubDelivery, mayRefuse: Bool) {
        self.record = record
        self.delivery = delivery
        let hubKey = record.hub.lowercased()
        self.hubKey = hubKey
        // A fault is of simulated devices: no push to a push service is lost by it.
        let isReal = record.format.map { delivery.lanes.isReal(hubKey, $0) } ?? false
        self.fate = isReal ? nil : fate
        self.mayRefuse = mayRefuse
        deadline = delivery.clock.instant() + delivery.settings.acceptTimeout
    }

    /// The devices of some registrations.
    ///
    /// - Throws: 400 when the body is not valid for a template.
    mutating func targets(_ registrations: [RegistrationEntry]) throws(HubError) -> [DeliveryTarget] {
        try DeliveryTarget.all(registrations, body: record.body, seen: &seen)
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
        for index in targets.indices where targets[index].outcome == .success {
            if case .outcome(let injected) = fate {
                targets[index].outcome = injected
            } else if delivery.lanes.isSimulated(hubKey, targets[index].format) {
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
        outcomes = HubMessage.sum(
            outcomes + targets.indices.filter { !pushed.contains($0) }.map { targets[$0].counted })
        if !pushes.isEmpty { try await push(pushes, to: places, of: &targets) }
        mayRefuse = false
        for target in targets {
            record.add(DeliveryResult(handle: target.handle, format: target.format, outcome: target.outcome))
        }
        shown += targets.prefix(RecordedRequest.maxResults - shown.count)
    }

    private mutating func push(
        _ pushes: [Push], to places: [Int], of targets: inout [DeliveryTarget]
    ) async throws(HubError) {
        record.outcome = .completed
        let parcel = HubDelivery.Parcel(
            message: message, pushes: pushes, deadline: deadline, mayRefuse: mayRefuse && simulated.isEmpty)
        let result = try await delivery.deliver(parcel)
        hasPushed = true
        for (place, outcome) in zip(places, result.outcomes) { targets[place].outcome = outcome }
        if result.isStored {
            (isStored, outcomes) = (true, [])
        } else {
            outcomes = HubMessage.sum(outcomes + places.map { targets[$0].counted })
        }
    }

    /// The record of the send. Its results can be read as telemetry from now on.
    mutating func finish() async -> RecordedRequest {
        record.completedAt = hasPushed ? delivery.clock.now() : record.receivedAt
        record.outcome = !hasTargets ? .noTargetFound : fate == .swallowed ? .faulted : .completed
        if !isStored {
            delivery.messages.put(message)
            return record
        }
        delivery.messages.forget(record.id)
        if !outcomes.isEmpty {
            // Only telemetry is the poorer if it fails.
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
            sentAt: record.receivedAt)
    }

    private func expiry(of target: DeliveryTarget, _ headers: [String: String]) -> Timestamp? {
        switch target.format {
        case .fcmv1, .gcm: FCMTimeToLive.of(target.body).map { record.receivedAt + $0 }
        default: NativeHeaders.expiry(headers, receivedAt: record.receivedAt)
        }
    }

    /// What a simulated push service says of a handle. Nothing is removed.
    private func noteFeedback(_ targets: [DeliveryTarget]) {
        delivery.feedback.put(
            targets.filter { PushFeedback.outcomes.contains($0.outcome) }.map { target in
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
        let state: MessageTelemetry.State =
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
