/// A presenter whose calls end. Time-outs of the system are ignored, except for secrets.
struct BoundedPresenter: NotificationPresenter {
    let presenter: any NotificationPresenter
    let limit: CallLimit

    func show(_ secret: SecretNotification) async throws {
        try await limit.run { try await presenter.show(secret) }
    }

    func show(_ notice: GenericNotice) async throws {
        try await limit.run { try await presenter.show(notice) }
    }

    func show(_ prompt: LogInPrompt) async throws {
        try await limit.run { try await presenter.show(prompt) }
    }

    func remove(_ ids: [PushID]) async {
        try? await limit.run { await presenter.remove(ids) }
    }

    func removePrompt() async {
        try? await limit.run { await presenter.removePrompt() }
    }

    func prepare(_ secret: SecretNotification) async {
        try? await limit.run { await presenter.prepare(secret) }
    }

    func hidesWhileLocked() async -> Bool {
        (try? await limit.run { await presenter.hidesWhileLocked() }) ?? false
    }

    func setBadge(_ count: Int) async {
        try? await limit.run { await presenter.setBadge(count) }
    }

    func displayedSecrets() async -> Set<PushID>? {
        try? await limit.run { await presenter.displayedSecrets() }
    }
}
