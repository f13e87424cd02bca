import Domain
import TestSupport

/// One call of each method of the ports.
enum StoreCall: CaseIterable {
    case append, find, findMany, payloadBytes, states, markRead, markShown, unreadCount, lease, confirm, leasePublished,
        backlog,
        claim, record, abandon
    case registration, anyonesRegistration, registrations, allRegistrations, ping
    case records, reopen, payloadKeys
    case census, operatorPage, life, reopenByRelay, resendByRelay
    case appendOnce, request, senderRecord, page, revoke, resend, inbox, purge
    case installation, installations, allInstallations, platforms
    case leaseFollowUps, claimFollowUps, recordFollowUps
    case admitSilent, releaseSilent
    case leaseDevice, endDeviceLease, expireDeviceLease, expiredLeases, leaseNewHandle, settleNewHandle
    case installationsOfOwner, devicesOfOwner, dueDevices
    case setEncryptionKey, encryptionKeys, deviceCount, leaseKeyNotice, settleKeyNotice, postponeKeyNotice
    case reportShown, shownDevices, genericTexts
    case markReadThen
    case question, answer, wrongChallenge
    case addFamily, refreshFamily, renewFamily, removeFamily, purgeFamilies
    case leaseOutcomes, saveOutcomes, awaitingOutcome, scheduledAwaitingOutcome, recordOutcomes

    func make(_ store: any Store, _ sample: SealedNotification) async throws {
        if try await makeForSenders(store, sample) { return }
        if try await makeForDevices(store, sample.id) { return }
        if try await makeForReading(store, sample.id) { return }
        if try await makeForDeviceLife(store) { return }
        if try await makeForRefreshTokens(store) { return }
        if try await makeForOutcomes(store, sample.id) { return }
        if try await makeForOperators(store, sample.id) { return }
        let id = sample.id
        switch self {
        case .append: try await store.append([sample])
        case .lease: _ = try await store.lease(limit: 3, now: due, until: due)
        case .confirm: try await store.confirm([id], until: due)
        case .leasePublished: _ = try await store.leasePublished(limit: 3, due: due, now: due, until: due)
        case .backlog: _ = try await store.backlog(now: due)
        case .claim: _ = try await store.claim([id], now: noon)
        case .record: try await store.record([DispatchOutcome(id: id, attempt: 1, deliveries: [])])
        case .abandon: try await store.abandon([id])
        case .ping: try await store.ping(timeout: .seconds(30))
        default: preconditionFailure("Every call is made by one of these.")
        }
    }

    /// The sender's calls and the upkeep; tells whether this is one of them.
    private func makeForSenders(_ store: any Store, _ sample: SealedNotification) async throws -> Bool {
        let request = IdempotentRequest.sample("\(sample.id)", of: [sample])
        switch self {
        case .appendOnce: _ = try await store.append([sample], once: request, now: noon)
        case .request: _ = try await store.request(request.key, now: noon)
        case .senderRecord: _ = try await store.record(sample.id, sender: "tests")
        case .page: _ = try await store.page(NotificationQuery(sender: "tests"), now: noon)
        case .revoke: _ = try await store.revoke(sample.id, sender: "tests", now: noon)
        case .resend: _ = try await store.resend(sample.id, sender: "tests", now: noon)
        case .purge: _ = try await store.purge(limit: 10, now: noon)
        case .records: _ = try await store.records([sample.id])
        case .reopen: _ = try await store.reopen([sample.id: [.apple]], now: noon)
        case .leaseFollowUps: _ = try await store.leaseFollowUps(limit: 3, now: noon)
        case .claimFollowUps: _ = try await store.claimFollowUps([FollowUp(id: sample.id, kind: .reminder)], now: noon)
        case .recordFollowUps:
            let followUp = FollowUp(id: sample.id, kind: .withdrawal)
            try await store.recordFollowUps([FollowUpOutcome(followUp: followUp, attempt: 1, deliveries: [])])
        case .admitSilent, .releaseSilent: try await makeForSilentPushes(store, sample.id)
        case .payloadKeys: _ = try await store.payloadKeys(now: noon)
        default: return false
        }
        return true
    }

    /// The calls for reading; tells whether this is one of them.
    private func makeForReading(_ store: any Store, _ id: NotificationID) async throws -> Bool {
        switch self {
        case .find: _ = try await store.find(id, recipient: .alice)
        case .findMany: _ = try await store.find([id, NotificationID()], recipient: .alice)
        case .payloadBytes: _ = try await store.payloadBytes(of: [id], recipient: .alice)
        case .states: _ = try await store.states([id], recipient: .alice)
        case .markRead: try await store.markRead(id, at: noon)
        case .markReadThen: try await store.markReadByCallback(id, at: noon)
        case .markShown: try await store.markShown(id, at: noon)
        case .unreadCount: _ = try await store.unreadCount(of: .alice, now: noon)
        case .reportShown:
            let report = DeviceReport(text: .generic, code: "SP-KEY")
            _ = try await store.report(report, of: id, by: "i", owner: .alice, now: noon)
        case .shownDevices: _ = try await store.shownDevices(of: id, limit: 9)
        case .genericTexts: _ = try await store.genericTexts(since: noon)
        case .question: _ = try await store.question(id, recipient: .alice)
        case .answer: _ = try await store.answer(id, Answer(action: "ok", at: noon), textUntil: noon)
        case .wrongChallenge: _ = try await store.countWrongChallenge(id)
        default: return false
        }
        return true
    }

    /// The devices' calls; tells whether this is one of them.
    private func makeForDevices(_ store: any Store, _ id: NotificationID) async throws -> Bool {
        switch self {
        case .inbox: _ = try await store.inbox(of: .alice, unreadOnly: false, after: nil, limit: 9, now: noon)
        case .registration: _ = try await store.registration("\(id)", owner: .alice)
        case .registrations: _ = try await store.registrations(handle: "h")
        case .allRegistrations: _ = try await store.registrations(after: nil, limit: 9)
        case .anyonesRegistration: _ = try await store.registration("\(id)")
        case .installation: _ = try await store.installation("\(id)")
        case .installations: _ = try await store.installations(handle: "h")
        case .allInstallations: _ = try await store.installations(after: nil, limit: 9)
        case .leaseDevice, .endDeviceLease, .expireDeviceLease: try await makeForLeases(store, id)
        case .expiredLeases: _ = try await store.expiredLeases(limit: 9, now: noon)
        case .leaseNewHandle: _ = try await store.leaseNewHandle(now: noon, until: noon)
        case .settleNewHandle: try await store.settleNewHandle(["h"])
        case .platforms: _ = try await store.platforms(of: [.alice])
        default: return false
        }
        return true
    }

    /// The operator's calls; tells whether this is one of them.
    private func makeForOperators(_ store: any Store, _ id: NotificationID) async throws -> Bool {
        let relay = Republishing.relay(traceparent: nil)
        switch self {
        case .census: _ = try await store.census(since: noon, now: noon)
        case .operatorPage: _ = try await store.page(OperatorQuery(onlyFailed: true, since: noon, limit: 9))
        case .life: _ = try await store.life(of: id)
        case .reopenByRelay: _ = try await store.reopen([id: [.apple]], now: noon, publishedBy: relay)
        case .resendByRelay: _ = try await store.resend(id, sender: "tests", now: noon, publishedBy: relay)
        default: return false
        }
        return true
    }

    private func makeForSilentPushes(_ store: any Store, _ id: NotificationID) async throws {
        let key = SilentPushKey(recipient: .alice, platform: .apple)
        if case .admitSilent = self {
            _ = try await store.admit([SilentPushRequest(key: key, id: id)], interval: .seconds(60), now: noon)
        } else {
            let release = SilentPushRelease(SilentPushGrant(key: key, sequence: 1), isOwed: true)
            try await store.release([release], interval: .seconds(60), now: noon)
        }
    }

    /// The calls about the life of devices; tells whether this is one of them.
    private func makeForDeviceLife(_ store: any Store) async throws -> Bool {
        switch self {
        case .installationsOfOwner: _ = try await store.installations(of: .alice, after: nil, limit: 9)
        case .devicesOfOwner: _ = try await store.devices(of: .alice, limit: 9)
        case .dueDevices: _ = try await store.dueDevices(unseenSince: noon, limit: 9, now: noon)
        case .encryptionKeys: _ = try await store.encryptionKeys(of: .alice, limit: 9)
        case .deviceCount: _ = try await store.deviceCount(of: .alice)
        case .leaseKeyNotice: _ = try await store.leaseKeyNotice(now: noon, until: noon)
        case .settleKeyNotice:
            try await store.settle(KeyNotice(installation: "i", owner: .alice, until: noon), told: noon)
        case .postponeKeyNotice:
            try await store.postpone(KeyNotice(installation: "i", owner: .alice, until: noon), until: noon)
        case .setEncryptionKey:
            let key = EncryptionKey(point: ES256Key().publicPoint)
            if let key { _ = try await store.setEncryptionKey(key, of: "i", owner: .alice, now: noon) }
        default: return false
        }
        return true
    }

    /// The calls about the hub's outcomes; tells whether this is one of them.
    private func makeForOutcomes(_ store: any Store, _ id: NotificationID) async throws -> Bool {
        let after = OutcomeCursor(before: noon)
        switch self {
        case .leaseOutcomes: _ = try await store.leaseOutcomes(holder: 1, now: noon, until: noon)
        case .saveOutcomes: _ = try await store.saveOutcomes(holder: 1, cursors: [after], until: noon)
        case .awaitingOutcome:
            let query = OutcomeQuery(order: .accepted, after: after, before: due, limit: 9)
            _ = try await store.awaitingOutcome(query)
        case .scheduledAwaitingOutcome:
            let query = OutcomeQuery(order: .scheduled, after: after, before: due, limit: 9)
            _ = try await store.awaitingOutcome(query)
        case .recordOutcomes:
            try await store.recordOutcomes([DeliveryOutcomes(id: id, attempt: 1, deliveries: [])])
        default: return false
        }
        return true
    }

    /// The calls about refresh tokens; tells whether this is one of them.
    private func makeForRefreshTokens(_ store: any Store) async throws -> Bool {
        let id = (0..<16).map { _ in UInt8.random(in: 0...255) }
        let family = RefreshFamily(id: id, owner: .alice, userEntry: "e", tokenHash: [1], expiresAt: noon)
        switch self {
        case .addFamily: try await store.add(family)
        case .refreshFamily: _ = try await store.refreshFamily(id)
        case .renewFamily: _ = try await store.renew(family, replacing: [1], now: noon)
        case .removeFamily: try await store.removeRefreshFamily(id)
        case .purgeFamilies: _ = try await store.purgeRefreshFamilies(limit: 9, now: noon)
        default: return false
        }
        return true
    }

    private func makeForLeases(_ store: any Store, _ id: NotificationID) async throws {
        let lease = DeviceLease(kind: .installation, id: "\(id)", token: 1)
        let installation = Installation(
            id: "\(id)", owner: .alice, platform: .apple, handle: "h", document: [1], updatedAt: noon)
        switch self {
        case .leaseDevice:
            let claim = DeviceLease.Condition.claimed(by: installation, handles: ["h"])
            _ = try await store.lease(.installation, lease.id, if: claim, now: noon)
        case .endDeviceLease:
            _ = try await store.end(lease, .saveInstallation(installation, handles: ["h"]), now: noon)
        default: try await store.expire(lease, now: noon)
        }
    }
}
