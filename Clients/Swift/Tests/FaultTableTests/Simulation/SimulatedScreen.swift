import SecurePushClient

/// The notification centre of the device. It outlives the processes.
///
/// Unchecked, because only the thread of the simulation touches it.
final class SimulatedScreen: @unchecked Sendable {
    /// Each secret as often as it was shown. Replacing the same secret under its identifier counts, too.
    private(set) var secrets: [PushID: Int] = [:]
    /// The texts of the secrets.
    private(set) var texts: Set<String> = []
    /// The secrets that the user can see.
    private(set) var visible: Set<PushID> = []
    private(set) var notices: [GenericNotice] = []
    private(set) var prompts: [LogInPrompt] = []
    private(set) var isPrompting = false
    private(set) var badge: Int?

    func show(_ secret: SecretNotification) {
        secrets[secret.id, default: 0] += 1
        texts.insert(secret.text)
        visible.insert(secret.id)
    }

    func show(_ notice: GenericNotice) { notices.append(notice) }

    func show(_ prompt: LogInPrompt) {
        prompts.append(prompt)
        isPrompting = true
    }

    func show(_ content: ServiceContent) {
        switch content.kind {
        case .secret(let secret): show(secret)
        case .generic(let notice): show(notice)
        case .prompt(let prompt): show(prompt)
        case .nothing: break
        }
        if let count = content.badge { badge = count }
    }

    func remove(_ ids: [PushID]) { visible.subtract(ids) }
    func removePrompt() { isPrompting = false }
    func setBadge(_ count: Int) { badge = count }

    /// How often the user was told something, secrets aside.
    var hints: Int { notices.count + prompts.count }
}

/// A process's way to the screen.
struct SimulatedPresenter: NotificationPresenter {
    let screen: SimulatedScreen
    let process: SimulatedProcess
    let faults: FaultPlan

    func show(_ secret: SecretNotification) async throws {
        try await process.call("show secret") {
            try await faults.present()
            screen.show(secret)
        }
    }

    func show(_ notice: GenericNotice) async throws {
        await process.call("show notice") { screen.show(notice) }
    }

    func show(_ prompt: LogInPrompt) async throws {
        await process.call("show prompt") { screen.show(prompt) }
    }

    func remove(_ ids: [PushID]) async {
        await process.call("remove") { screen.remove(ids) }
    }

    func removePrompt() async {
        await process.call("remove prompt") { screen.removePrompt() }
    }

    func setBadge(_ count: Int) async {
        await process.call("set badge") { screen.setBadge(count) }
    }

    func displayedSecrets() async -> Set<PushID>? {
        await process.call("displayed secrets") { screen.visible }
    }
}
