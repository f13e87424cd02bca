package import Domain
package import Foundations

/// A store in front of another one: a fake has its own functions for what it changes, and everything else goes through.
package protocol ForwardingStore: Store {
    var base: any Store { get }

    /// Is called before each function that goes through, with its name (`#function`): a store that is away throws.
    func check(_ function: String) throws
}

extension ForwardingStore {
    package func check(_ function: String) throws {}

    private func open(_ function: String = #function) throws -> any Store {
        try check(function)
        return base
    }
}

extension ForwardingStore {
    package func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        do { try open().append(notifications, then: completion) } catch { completion(.failure(error)) }
    }

    package func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        try await open().append(notifications, once: request, now: now)
    }

    package func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        try await open().request(key, now: now)
    }

    package func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        try await open().lease(limit: limit, now: now, until: until)
    }

    package func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        try await open().confirm(ids, until: until)
    }

    package func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        try await open().leasePublished(limit: limit, due: due, now: now, until: until)
    }

    package func backlog(now: Timestamp) async throws -> OutboxBacklog {
        try await open().backlog(now: now)
    }

    package func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry] {
        try await open().leaseFollowUps(limit: limit, now: now)
    }
}

extension ForwardingStore {
    package func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) {
        do { try open().find(id, recipient: recipient, then: completion) } catch { completion(.failure(error)) }
    }

    package func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] {
        try await open().find(ids, recipient: recipient)
    }

    package func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int {
        try await open().payloadBytes(of: ids, recipient: recipient)
    }

    package func states(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: ReadingState] {
        try await open().states(ids, recipient: recipient)
    }

    package func markRead(_ ids: [NotificationID], at time: Timestamp) async throws {
        try await open().markRead(ids, at: time)
    }

    package func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        do { try open().markRead(id, at: time, then: completion) } catch { completion(.failure(error)) }
    }

    package func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        try await open().markShown(id, at: time)
    }

    package func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        try await open().inbox(of: recipient, unreadOnly: unreadOnly, after: after, limit: limit, now: now)
    }

    package func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int {
        try await open().unreadCount(of: recipient, now: now)
    }
}

extension ForwardingStore {
    package func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        try await open().begin(ids, now: now)
    }

    package func enter(_ ids: [NotificationID], now: Timestamp) async throws {
        try await open().enter(ids, now: now)
    }

    package func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        try await open().claim(ids, first: first, now: now)
    }

    package func abandon(_ ids: [NotificationID]) async throws {
        try await open().abandon(ids)
    }

    @discardableResult package func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        try await open().record(outcomes)
    }

    package func platforms(of users: [UserName]) async throws -> [UserName: Set<Platform>] {
        try await open().platforms(of: users)
    }

    package func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims {
        try await open().claimFollowUps(followUps, now: now)
    }

    package func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws {
        try await open().recordFollowUps(outcomes)
    }

    package func abandonFollowUps(_ followUps: [FollowUp]) async throws {
        try await open().abandonFollowUps(followUps)
    }

    package func admit(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission] {
        try await open().admit(requests, interval: interval, now: now)
    }

    package func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws {
        try await open().release(releases, interval: interval, now: now)
    }

    package func leaseOutcomes(holder: Int64, now: Timestamp, until: Timestamp) async throws -> [OutcomeCursor]? {
        try await open().leaseOutcomes(holder: holder, now: now, until: until)
    }

    package func saveOutcomes(holder: Int64, cursors: [OutcomeCursor], until: Timestamp) async throws -> Bool {
        try await open().saveOutcomes(holder: holder, cursors: cursors, until: until)
    }

    package func awaitingOutcome(_ query: OutcomeQuery) async throws -> OutcomePage {
        try await open().awaitingOutcome(query)
    }

    package func recordOutcomes(_ outcomes: [DeliveryOutcomes]) async throws {
        try await open().recordOutcomes(outcomes)
    }
}

extension ForwardingStore {
    package func installation(_ id: String) async throws -> Installation? {
        try await open().installation(id)
    }

    package func installations(handle: String) async throws -> [Installation] {
        try await open().installations(handle: handle)
    }

    package func installations(after id: String?, limit: Int) async throws -> [Installation] {
        try await open().installations(after: id, limit: limit)
    }

    package func registration(_ id: String, owner: UserName) async throws -> Registration? {
        try await open().registration(id, owner: owner)
    }

    package func registration(_ id: String) async throws -> Registration? {
        try await open().registration(id)
    }

    package func registrations(handle: String) async throws -> [Registration] {
        try await open().registrations(handle: handle)
    }

    package func registrations(after id: String?, limit: Int) async throws -> [Registration] {
        try await open().registrations(after: id, limit: limit)
    }

    package func lease(
        _ kind: DeviceLease.Kind, _ id: String, if condition: DeviceLease.Condition, now: Timestamp
    ) async throws -> DeviceLease.Outcome {
        try await open().lease(kind, id, if: condition, now: now)
    }

    package func end(_ lease: DeviceLease, _ change: DeviceLease.Change, now: Timestamp) async throws -> Bool {
        try await open().end(lease, change, now: now)
    }

    package func expire(_ lease: DeviceLease, now: Timestamp) async throws {
        try await open().expire(lease, now: now)
    }

    package func expiredLeases(limit: Int, now: Timestamp) async throws -> [DeviceLease.Expired] {
        try await open().expiredLeases(limit: limit, now: now)
    }

    package func leaseNewHandle(now: Timestamp, until: Timestamp) async throws -> String? {
        try await open().leaseNewHandle(now: now, until: until)
    }

    package func settleNewHandle(_ handles: [String]) async throws {
        try await open().settleNewHandle(handles)
    }

    package func installations(of owner: UserName, after id: String?, limit: Int) async throws -> [Installation] {
        try await open().installations(of: owner, after: id, limit: limit)
    }

    package func devices(of owner: UserName, limit: Int) async throws -> [DeviceReference] {
        try await open().devices(of: owner, limit: limit)
    }

    package func dueDevices(unseenSince: Timestamp, limit: Int, now: Timestamp) async throws -> [DeviceReference] {
        try await open().dueDevices(unseenSince: unseenSince, limit: limit, now: now)
    }

    package func places(of kind: DeviceLease.Kind, _ ids: [String]) async throws -> [String: [DevicePlace]] {
        try await open().places(of: kind, ids)
    }

    package func setPlaces(_ places: [DevicePlace], of lease: DeviceLease) async throws -> Bool {
        try await open().setPlaces(places, of: lease)
    }

    package func placesWithoutDevice(
        of kind: DeviceLease.Kind, after id: String?, limit: Int
    ) async throws -> [DeviceReference] {
        try await open().placesWithoutDevice(of: kind, after: id, limit: limit)
    }

    package func setEncryptionKey(
        _ key: EncryptionKey, of installation: String, owner: UserName, notifies: Bool, now: Timestamp
    ) async throws -> Bool {
        try await open().setEncryptionKey(key, of: installation, owner: owner, notifies: notifies, now: now)
    }

    package func leaseKeyNotice(now: Timestamp, until: Timestamp) async throws -> KeyNotice? {
        try await open().leaseKeyNotice(now: now, until: until)
    }

    package func settle(_ notice: KeyNotice, told: Timestamp) async throws {
        try await open().settle(notice, told: told)
    }

    package func postpone(_ notice: KeyNotice, until: Timestamp) async throws {
        try await open().postpone(notice, until: until)
    }

    package func deviceCount(of owner: UserName) async throws -> Int {
        try await open().deviceCount(of: owner)
    }

    package func encryptionKeys(of owner: UserName, limit: Int) async throws -> [DeviceEncryptionKey] {
        try await open().encryptionKeys(of: owner, limit: limit)
    }
}

extension ForwardingStore {
    package func report(
        _ report: DeviceReport, of id: NotificationID, by device: String, owner: UserName, now: Timestamp
    ) async throws -> String? {
        try await open().report(report, of: id, by: device, owner: owner, now: now)
    }

    package func shownDevices(of id: NotificationID, limit: Int) async throws -> [ShownDevice] {
        try await open().shownDevices(of: id, limit: limit)
    }

    package func genericTexts(since: Timestamp) async throws -> [GenericTextCount] {
        try await open().genericTexts(since: since)
    }
}

extension ForwardingStore {
    package func add(_ family: RefreshFamily) async throws {
        try await open().add(family)
    }

    package func refreshFamily(_ id: [UInt8]) async throws -> RefreshFamily? {
        try await open().refreshFamily(id)
    }

    package func renew(_ family: RefreshFamily, replacing hash: [UInt8], now: Timestamp) async throws -> Bool {
        try await open().renew(family, replacing: hash, now: now)
    }

    package func removeRefreshFamily(_ id: [UInt8]) async throws {
        try await open().removeRefreshFamily(id)
    }

    package func purgeRefreshFamilies(limit: Int, now: Timestamp) async throws -> Int {
        try await open().purgeRefreshFamilies(limit: limit, now: now)
    }
}

extension ForwardingStore {
    package func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus {
        try await open().census(since: since, now: now)
    }

    package func page(_ query: OperatorQuery) async throws -> OperatorPage {
        try await open().page(query)
    }

    package func life(of id: NotificationID) async throws -> NotificationLife? {
        try await open().life(of: id)
    }

    package func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        try await open().records(ids)
    }

    package func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp, publishedBy publisher: Republishing
    ) async throws -> [NotificationID: ReplayDecision] {
        try await open().reopen(letters, now: now, publishedBy: publisher)
    }

    package func payloadKeys(after: NotificationID?, limit: Int, now: Timestamp) async throws -> PayloadKeyPage {
        try await open().payloadKeys(after: after, limit: limit, now: now)
    }

    package func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        try await open().purge(limit: limit, now: now)
    }
}

extension ForwardingStore {
    package func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        try await open().record(id, sender: sender)
    }

    package func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
        try await open().page(query, now: now)
    }

    package func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool {
        try await open().revoke(id, sender: sender, now: now)
    }

    package func resend(
        _ id: NotificationID, sender: String, now: Timestamp, publishedBy publisher: Republishing
    ) async throws -> ReplayDecision? {
        try await open().resend(id, sender: sender, now: now, publishedBy: publisher)
    }
}

extension ForwardingStore {
    package func ping(timeout: Duration) async throws {
        try await open().ping(timeout: timeout)
    }
}

extension ForwardingStore {
    package func question(_ id: NotificationID, recipient: UserName) async throws -> OpenQuestion? {
        try await open().question(id, recipient: recipient)
    }

    package func answer(_ id: NotificationID, _ answer: Answer, textUntil: Timestamp) async throws -> Bool {
        try await open().answer(id, answer, textUntil: textUntil)
    }

    package func countWrongChallenge(_ id: NotificationID) async throws -> Int? {
        try await open().countWrongChallenge(id)
    }
}
