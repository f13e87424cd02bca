import Foundation
import SecurePushClient

#if os(Linux)
/// The storage of a scenario's device, with its faults.
///
/// Unchecked, because only the thread of the simulation touches it.
final class ScenarioStore: ClientStore, @unchecked Sendable {
    private var state = ClientState()
    var credentials: StoredCredentials?
    private var hasNoticed = false
    var isLocked = false
    /// How many changes still fail.
    var refusedWrites = 0

    /// The wake is over, and with it what was wrong.
    func heal() { (isLocked, refusedWrites) = (false, 0) }

    /// What cannot be decoded is put aside, and the store begins anew.
    func damage() { state = ClientState() }

    func read() async throws -> ClientState {
        try check()
        return state
    }

    func update<Result: Sendable>(_ change: @Sendable (inout ClientState) -> Result) async throws -> Result {
        try checkWriting()
        return change(&state)
    }

    func credentials() async throws -> StoredCredentials? {
        try check()
        return credentials
    }

    func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        try checkWriting()
        guard credentials == expected else { return false }
        credentials = new
        return true
    }

    func envelopeKeys() async throws -> EnvelopeKeyRing { EnvelopeKeyRing() }

    func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool { true }

    func remember(_ envelope: EnvelopeRecord) async throws -> Bool { true }

    func claimLockedNotice() async -> Bool {
        defer { hasNoticed = true }
        return !hasNoticed
    }

    private func check() throws {
        if isLocked { throw ClientStoreError.locked }
    }

    private func checkWriting() throws {
        try check()
        guard refusedWrites > 0 else { return }
        refusedWrites -= 1
        throw ClientStoreError.unwritable
    }
}

/// The screen of a scenario's device.
///
/// Unchecked, because only the thread of the simulation touches it.
final class ScenarioScreen: NotificationPresenter, @unchecked Sendable {
    private var secrets: Set<String> = []
    private var notices: Set<String> = []
    private var hasPrompt = false
    // What happened in the wake.
    private var shown: [[String: Any]] = []
    private var generic: [[String: Any]] = []
    private var prompts: [[String: Any]] = []
    private var locked = 0
    private var badge: Int?
    /// How many secrets are still refused.
    var refusals = 0

    func begin() { (shown, generic, prompts, locked, badge, refusals) = ([], [], [], 0, nil, 0) }

    /// The part of `expect` that the user sees.
    var observation: [String: Any] {
        [
            "shown": shown, "generic": generic, "prompts": prompts, "locked": locked, "badge": badge ?? NSNull(),
            "screen": ["secrets": secrets.sorted(), "generic": notices.sorted(), "prompt": hasPrompt] as [String: Any],
        ]
    }

    func show(_ secret: SecretNotification) async throws {
        if refusals > 0 {
            refusals -= 1
            throw SecurePushFailure(code: .notPresented)
        }
        shown.append(["id": secret.id.rawValue, "text": secret.text])
        secrets.insert(secret.id.rawValue)
        notices.remove(secret.id.rawValue)
    }

    func show(_ notice: GenericNotice) async throws {
        if notice.localizationKey == ClientTexts().locked {
            locked += 1
            return
        }
        let (id, code): (Any, Any) = (notice.id?.rawValue ?? NSNull(), notice.code?.rawValue ?? NSNull())
        generic.append(["id": id, "code": code])
        if let id = notice.id { notices.insert(id.rawValue) }
    }

    func show(_ prompt: LogInPrompt) async throws {
        prompts.append(["ids": prompt.ids.map(\.rawValue), "code": prompt.code.rawValue])
        hasPrompt = true
    }

    func remove(_ ids: [PushID]) async {
        secrets.subtract(ids.map(\.rawValue))
        notices.subtract(ids.map(\.rawValue))
    }

    func removePrompt() async { hasPrompt = false }

    func setBadge(_ count: Int) async { badge = count }

    func displayedSecrets() async -> Set<PushID>? { Set(secrets.compactMap { PushID($0) }) }
}
#endif
