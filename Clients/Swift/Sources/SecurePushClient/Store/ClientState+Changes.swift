import Foundation

extension ClientState {
    /// Takes over the changes that were made while the store could not be written.
    mutating func merge(_ other: ClientState) {
        // Another process has changed the user in the meantime.
        if other.userChanges < userChanges { return }
        guard other.userChanges == userChanges, other.owner == owner || owner == nil else {
            self = other
            return
        }
        owner = other.owner
        ledger.merge(other.ledger)
        cursor = other.cursor ?? cursor
        isPrompted = other.isPrompted
        unconfirmed += other.unconfirmed.filter { !unconfirmed.contains($0) }
        unreported += other.unreported.filter { !unreported.contains($0) }
        // The state is a backup of another device, which owns the installation.
        if let known = deviceMark, let mark = other.deviceMark, known != mark { registration = RegistrationRecord() }
        // A state that began empty, because the store could not be read, knows nothing of them.
        if other.registration != RegistrationRecord() { registration = other.registration }
        keyOwner = other.keyOwner ?? keyOwner
        deviceMark = other.deviceMark ?? deviceMark
        if let keys = other.pushKeys { (pushKeys, pushKeysReadAt) = (keys, other.pushKeysReadAt) }
        pushKeysAskedAt = other.pushKeysAskedAt ?? pushKeysAskedAt
    }

    /// Notes the user. Another user's notifications are forgotten.
    ///
    /// - Returns: the IDs that are to be removed from the screen.
    mutating func adopt(_ userName: UserName) -> [PushID] {
        guard let owner, owner != userName else {
            self.owner = userName
            return []
        }
        return forget(newOwner: userName)
    }

    /// Forgets the user's notifications. The installation's ID, the registration and the keys stay.
    ///
    /// - Returns: the IDs that are to be removed from the screen.
    mutating func forget(newOwner: UserName?) -> [PushID] {
        let ids = ledger.entries.map(\.id)
        ledger = SecretLedger()
        cursor = nil
        isPrompted = false
        (unreported, unconfirmed) = ([], [])
        owner = newOwner
        userChanges += 1
        return ids
    }

    /// Notes a withdrawal.
    ///
    /// A withdrawal also follows when one of the user's devices has read the notification (`DISPATCH_WITHDRAW=read`),
    /// and reaches that device too. If this device may have been the first to read it, the server has to confirm the
    /// withdrawal first. That includes a request without an answer: the process may have died, or the network failed,
    /// after the server had marked it as read.
    ///
    /// - Parameter isSigned: whether the server has signed it. If not, the server has to confirm it, and until then it
    ///   changes nothing.
    /// - Returns: whether it is to be removed from the screen now.
    mutating func withdraw(_ id: PushID, isSigned: Bool, at now: Double, _ limits: ClientLimits) -> Bool {
        if !isSigned || ledger[id]?.mayHaveBeenRead == true {
            confirmLater(id)
            return false
        }
        endWithdrawn(id, at: now, limits)
        return true
    }

    /// Notes that a notification is withdrawn for good.
    mutating func endWithdrawn(_ id: PushID, at now: Double, _ limits: ClientLimits) {
        unconfirmed.removeAll { $0 == id }
        ledger.withdraw(id, at: now, limits)
    }

    /// Ends the prompt to log in, if nothing waits behind it.
    ///
    /// - Returns: whether it is to be removed from the screen.
    mutating func endEmptyPrompt() -> Bool {
        guard isPrompted, ledger.waiting.isEmpty else { return false }
        isPrompted = false
        return true
    }

    /// Notes that the server is being asked for a notification.
    mutating func request(_ id: PushID) -> FetchRequest {
        FetchRequest(isRepeated: ledger.markRequested(id), userChanges: userChanges)
    }

    /// Notes that the server has marked nothing as read for a request.
    mutating func unrequest(_ id: PushID, _ request: FetchRequest) {
        if userChanges == request.userChanges { ledger.unmarkRequested(id) }
    }

    /// Claims the right to show a secret, unless the user has changed since the client asked for it. If it was
    /// withdrawn while this device, its first reader, fetched it, it is shown, and the server has to confirm the
    /// withdrawal. If another device was the first, the withdrawal holds, if it is signed.
    mutating func claim(
        _ secret: SecretNotification, of request: FetchRequest, by process: String, areWithdrawalsSigned: Bool,
        at now: Double, _ limits: ClientLimits
    ) -> SecretLedger.Claim {
        // A damaged store begins at 0 again. Its secrets are shown.
        if userChanges > request.userChanges { return .settled }
        let isFirstReader = !secret.wasRead || request.isRepeated
        let entry = ledger[secret.id]
        if areWithdrawalsSigned, unconfirmed.contains(secret.id), entry?.progress == .pending,
            entry?.isFirstReader == false, !isFirstReader
        {
            endWithdrawn(secret.id, at: now, limits)
            return .withdrawn
        }
        let wasWithdrawn = entry?.progress == .withdrawn
        let claim = ledger.claim(secret.id, by: process, isFirstReader: isFirstReader, at: now, limits)
        if claim == .granted, wasWithdrawn { confirmLater(secret.id) }
        if claim == .granted { ledger.expire(secret.id, at: secret.expiresAt?.timeIntervalSince1970) }
        return claim
    }

    private mutating func confirmLater(_ id: PushID) {
        guard !unconfirmed.contains(id) else { return }
        unconfirmed.append(id)
        if unconfirmed.count > Self.maxUnsent { unconfirmed.removeFirst() }
    }

    /// Notes what is shown, so that the server is told. A secret takes the place of its generic text.
    mutating func report(_ report: ShownReport) {
        if let index = unreported.firstIndex(where: { $0.id == report.id }) {
            guard report.text == .secret, unreported[index].text == .generic else { return }
            unreported.remove(at: index)
        }
        unreported.append(report)
        if unreported.count > Self.maxUnsent { unreported.removeFirst() }
    }

    /// Whether the server's keys for pushes were read a short time ago. If the clock went back, that is in the future and
    /// counts as long ago.
    ///
    /// - Parameter seconds: the short time.
    func hasReadPushKeys(at now: Double, within seconds: Double) -> Bool {
        pushKeysReadAt.map { (0..<seconds).contains(now - $0) } ?? false
    }

    /// Notes that the server is asked for its keys because of a push of an unknown key.
    ///
    /// - Returns: whether it may be asked: anybody can send such pushes.
    mutating func askForPushKeys(at now: Double, within seconds: Double) -> Bool {
        let hasAsked = pushKeysAskedAt.map { (0..<seconds).contains(now - $0) } ?? false
        if hasAsked || hasReadPushKeys(at: now, within: seconds) { return false }
        pushKeysAskedAt = now
        return true
    }

    /// The list of reports is limited, so that the state stays small.
    private static let maxUnsent = 200
}

/// The state at the moment at which the client asked for a notification.
struct FetchRequest: Sendable {
    /// Whether this device has asked for it before without an answer. The server may have marked it as read then.
    var isRepeated: Bool
    /// ``ClientState/userChanges``.
    let userChanges: Int
}
