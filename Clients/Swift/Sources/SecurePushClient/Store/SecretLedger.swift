/// The notifications that the client knows, and how far it has come with each of them.
///
/// These steps keep a secret from being lost or shown twice when the process dies between two of them:
///
/// 1. `pending` is stored before anything is asked. A later wake goes on with it.
/// 2. `claimed` is stored when the payload is here, before it is shown. Another process leaves it alone. After a crash
///    it is in doubt, and the presenter is asked whether the user sees the secret.
/// 3. `shown` is stored after it was shown.
struct SecretLedger: Codable, Sendable, Equatable {
    /// The client's progress with one notification.
    enum Progress: Codable, Sendable, Equatable {
        /// It must be fetched.
        case pending
        /// Fetched, and about to be shown by this process.
        case claimed(process: String)
        /// Shown. Final.
        case shown
        /// Withdrawn by the sender, or read on another device. Final.
        case withdrawn
        /// The server has no such notification for this user. Another push for it tries again.
        case gone
    }

    struct Entry: Codable, Sendable, Equatable {
        var id: PushID
        var progress: Progress
        /// The ``ClientClock/uptime`` at which the progress changed. After a start of the system it may be in the future.
        var at: Double
        /// Whether the user has seen the generic text or the prompt for this notification.
        var hasNotice = false
        /// How many requests for it have no clear answer: those that are in flight, and those whose answer was lost.
        /// The server may have marked it as read for each of them.
        var openRequests = 0
        /// Whether this device may have been the first of the user's devices that fetched it.
        var isFirstReader = false
        /// When what is shown is to be removed, in seconds since 1970; `nil`: never.
        var expiresAt: Double?
        /// Whether the user has seen the generic text in place of the secret, which the app shows.
        var isInAppOnly: Bool?
    }

    /// In the order in which the client learned of them.
    private(set) var entries: [Entry] = []
    /// Those that were settled and are no longer among ``entries``; `nil` if there are none.
    private var forgotten: ForgottenIDs?

    subscript(_ id: PushID) -> Entry? { entries.last { $0.id == id } }

    /// The notifications that are still to be shown, in order.
    var waiting: [PushID] { entries.filter { $0.progress == .pending }.map(\.id) }

    /// The notifications that are still to be shown: first those that have not failed, so that one that always fails
    /// does not keep the others waiting.
    var fetchOrder: [PushID] {
        let waiting = entries.filter { $0.progress == .pending }
        return (waiting.filter { !$0.hasNotice } + waiting.filter(\.hasNotice)).map(\.id)
    }

    /// The notification that was shown last.
    var lastShown: PushID? { entries.last { $0.progress == .shown }?.id }

    /// Notes that a notification exists, for example because a push or the inbox names it.
    ///
    /// - Returns: whether it is to be fetched. One that was shown or withdrawn is not; one that is claimed may be.
    @discardableResult
    mutating func learn(_ id: PushID, at now: Double, _ limits: ClientLimits) -> Bool {
        guard let index = entries.lastIndex(where: { $0.id == id }) else {
            if forgotten?.contains(id) == true { return false }
            append(Entry(id: id, progress: .pending, at: now), limits)
            return true
        }
        switch entries[index].progress {
        case .pending, .claimed: return true
        case .shown, .withdrawn: return false
        case .gone:
            entries[index].progress = .pending
            entries[index].at = now
            return true
        }
    }

    /// Notes that the server is being asked for a notification.
    ///
    /// - Returns: whether an earlier request has no clear answer.
    mutating func markRequested(_ id: PushID) -> Bool {
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return false }
        defer { entries[index].openRequests = min(entries[index].openRequests + 1, Self.maxOpenRequests) }
        return entries[index].openRequests > 0
    }

    /// Notes that the server has refused a request for a notification, or was not asked after all.
    mutating func unmarkRequested(_ id: PushID) {
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return }
        entries[index].openRequests = max(0, entries[index].openRequests - 1)
    }

    /// The answer to a process that has fetched a secret and wants to show it.
    enum Claim: Sendable, Equatable {
        /// The caller may show it.
        case granted
        /// It was shown or withdrawn.
        case settled
        /// Its withdrawal came while it was being fetched, and another device is the reader. It is to be removed.
        case withdrawn
        /// Another process is about to show it.
        case held(seconds: Double)
        /// Another process was about to show it, and has not said whether it did.
        case inDoubt(process: String)
    }

    /// Claims the right to show a secret.
    ///
    /// - Parameter isFirstReader: whether no device of the user had fetched it before. Then a withdrawal that came in
    ///   the meantime may have been caused by this fetch (see ``ClientState/withdraw(_:at:_:)``).
    mutating func claim(
        _ id: PushID, by process: String, isFirstReader: Bool, at now: Double, _ limits: ClientLimits
    ) -> Claim {
        guard let index = entries.lastIndex(where: { $0.id == id }) else {
            if forgotten?.contains(id) == true { return .settled }
            append(
                Entry(id: id, progress: .claimed(process: process), at: now, isFirstReader: isFirstReader), limits)
            return .granted
        }
        switch entries[index].progress {
        case .shown, .claimed(process): return .settled
        case .withdrawn where !isFirstReader: return .settled
        case .claimed(let other):
            let seconds = entries[index].claimSecondsLeft(at: now, limits)
            return seconds > 0 ? .held(seconds: seconds) : .inDoubt(process: other)
        case .pending, .gone, .withdrawn:
            entries[index].progress = .claimed(process: process)
            entries[index].at = now
            entries[index].isFirstReader = isFirstReader || entries[index].isFirstReader
            entries[index].openRequests = max(0, entries[index].openRequests - 1)
            return .granted
        }
    }

    /// The claim of another process.
    struct OtherClaim: Sendable {
        let id: PushID
        let process: String
        /// The time until it expires and is in doubt; 0 if it has expired.
        let secondsLeft: Double
    }

    /// The claims of all processes but this one.
    func claims(besides process: String, at now: Double, _ limits: ClientLimits) -> [OtherClaim] {
        entries.compactMap { entry in
            guard case .claimed(let other) = entry.progress, other != process else { return nil }
            return OtherClaim(id: entry.id, process: other, secondsLeft: entry.claimSecondsLeft(at: now, limits))
        }
    }

    /// How the claim of a process ended.
    enum End: Sendable, Equatable {
        /// The end was stored.
        case noted
        /// The notification was withdrawn in the meantime: it must be removed from the screen.
        case withdrawn
        /// The process has no claim any more.
        case lost
    }

    /// Ends a claim.
    ///
    /// - Parameter isShown: whether the user sees the secret. If not, it waits for the next wake.
    mutating func settle(_ id: PushID, of process: String, isShown: Bool, at now: Double) -> End {
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return .lost }
        if entries[index].progress == .withdrawn { return .withdrawn }
        guard entries[index].progress == .claimed(process: process) else { return .lost }
        entries[index].progress = isShown ? .shown : .pending
        entries[index].at = now
        return .noted
    }

    /// Notes when a secret expires.
    ///
    /// - Parameter moment: in seconds since 1970; `nil`: never.
    mutating func expire(_ id: PushID, at moment: Double?) {
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return }
        entries[index].expiresAt = moment
    }

    /// Whether something that is shown has expired.
    func hasExpired(at now: Double) -> Bool { entries.contains { $0.hasExpired(at: now) } }

    /// Notes that what has expired is removed from the screen.
    ///
    /// - Returns: the notifications.
    mutating func takeExpired(at now: Double) -> [PushID] {
        entries.indices.filter { entries[$0].hasExpired(at: now) }.map { index in
            entries[index].expiresAt = nil
            return entries[index].id
        }
    }

    /// Notes that only the app shows the secret, or that it has done so.
    ///
    /// - Returns: whether the app had still to show it.
    @discardableResult
    mutating func markInAppOnly(_ id: PushID, _ isInAppOnly: Bool) -> Bool {
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return false }
        defer { entries[index].isInAppOnly = isInAppOnly ? true : nil }
        return entries[index].isInAppOnly == true
    }

    /// Notes that a notification was withdrawn, also before its push has come.
    mutating func withdraw(_ id: PushID, at now: Double, _ limits: ClientLimits) {
        if let index = entries.lastIndex(where: { $0.id == id }) {
            entries[index].progress = .withdrawn
            entries[index].at = now
        } else {
            append(Entry(id: id, progress: .withdrawn, at: now), limits)
        }
    }

    /// Notes that the user sees the generic text or the prompt for a notification.
    ///
    /// - Returns: whether it is the first time.
    mutating func markNoticed(_ id: PushID, isGone: Bool = false) -> Bool {
        guard let index = entries.lastIndex(where: { $0.id == id }) else { return true }
        if isGone, entries[index].progress == .pending { entries[index].progress = .gone }
        defer { entries[index].hasNotice = true }
        return !entries[index].hasNotice
    }

    /// Takes over the changes that were made while the store could not be written.
    mutating func merge(_ other: SecretLedger) {
        for entry in other.entries {
            guard let index = entries.lastIndex(where: { $0.id == entry.id }) else {
                entries.append(entry)
                continue
            }
            if entry.progress.rank > entries[index].progress.rank { entries[index] = entry }
            if entry.hasNotice { entries[index].hasNotice = true }
            entries[index].openRequests = max(entries[index].openRequests, entry.openRequests)
        }
        // Both began with the same, and forget few in a wake.
        if let others = other.forgotten, others.hashes.count > forgotten?.hashes.count ?? 0 { forgotten = others }
    }

    /// Higher counts make no difference.
    private static let maxOpenRequests = 1_000

    /// Adds an entry, and forgets the oldest: of those that are settled, if there are any. A hash is kept. Nothing is forgotten by its
    /// age, because a clock that jumps would show a secret again.
    private mutating func append(_ entry: Entry, _ limits: ClientLimits) {
        entries.append(entry)
        while entries.count > max(1, limits.maxRememberedIDs) {
            let removed = entries.remove(at: entries.firstIndex { $0.progress.isSettled } ?? 0)
            guard removed.progress == .shown || removed.progress == .withdrawn else { continue }
            forgotten = forgotten ?? ForgottenIDs()
            forgotten?.append(removed.id)
        }
    }
}

extension SecretLedger.Entry {
    /// Whether this device's own fetch may have caused a withdrawal (see ``ClientState/withdraw(_:at:_:)``).
    var mayHaveBeenRead: Bool {
        switch progress {
        case .pending: isFirstReader || openRequests > 0
        case .claimed, .shown, .gone: isFirstReader
        case .withdrawn: false
        }
    }

    fileprivate func hasExpired(at now: Double) -> Bool {
        progress == .shown && expiresAt.map { $0 <= now } ?? false
    }

    /// The time until a claim expires, in seconds; 0 if it has expired. The age is negative if the system has
    /// started since. Then the claim counts as expired.
    fileprivate func claimSecondsLeft(at now: Double, _ limits: ClientLimits) -> Double {
        let age = now - at
        return age >= 0 ? max(0, limits.claimSeconds - age) : 0
    }
}

extension SecretLedger.Progress {
    /// Whether nothing is left to do.
    fileprivate var isSettled: Bool {
        switch self {
        case .shown, .withdrawn, .gone: true
        case .pending, .claimed: false
        }
    }

    /// A later progress has a higher rank.
    fileprivate var rank: Int {
        switch self {
        case .pending: 0
        case .gone: 1
        case .claimed: 2
        case .shown: 3
        case .withdrawn: 4
        }
    }
}
