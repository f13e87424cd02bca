import Foundation

@testable import SecurePushClient

/// A screen: what the user sees now, and everything that was ever shown.
actor RecordingPresenter: NotificationPresenter {
    /// Secrets, by ID.
    private(set) var secrets: [String: String] = [:]
    /// Generic texts, by ID or empty.
    private(set) var notices: [String: GenericNotice] = [:]
    private(set) var prompt: LogInPrompt?
    private(set) var badge: Int?
    /// The ID of each secret that was shown, in order.
    private(set) var shown: [String] = []
    private(set) var prompts: [LogInPrompt] = []
    private(set) var noticed: [GenericNotice] = []
    private var failures = 0
    private var beforeShow: (@Sendable () async -> Void)?
    private var tellsWhatIsShown = true
    /// The last secret that was shown.
    private(set) var lastSecret: SecretNotification?
    private var hides = false

    func failNext(_ count: Int) { failures = count }
    /// Runs before the next secret is shown, for example to log the user out.
    func beforeNextSecret(_ body: @escaping @Sendable () async -> Void) { beforeShow = body }
    func forgetWhatIsShown() { tellsWhatIsShown = false }
    func hideWhileLocked() { hides = true }

    func hidesWhileLocked() async -> Bool { hides }

    func show(_ secret: SecretNotification) async throws {
        if let body = beforeShow {
            beforeShow = nil
            await body()
        }
        if failures > 0 {
            failures -= 1
            throw SecurePushFailure(code: .notPresented)
        }
        secrets[secret.id.rawValue] = secret.text
        notices[secret.id.rawValue] = nil
        shown.append(secret.id.rawValue)
        lastSecret = secret
    }

    func show(_ notice: GenericNotice) async throws {
        notices[notice.id?.rawValue ?? ""] = notice
        noticed.append(notice)
    }

    func show(_ prompt: LogInPrompt) async throws {
        self.prompt = prompt
        prompts.append(prompt)
    }

    func remove(_ ids: [PushID]) async {
        for id in ids {
            secrets[id.rawValue] = nil
            notices[id.rawValue] = nil
        }
    }

    func removePrompt() async {
        prompt = nil
        notices[""] = nil
    }

    func setBadge(_ count: Int) async { badge = count }

    func displayedSecrets() async -> Set<PushID>? {
        tellsWhatIsShown ? Set(secrets.keys.compactMap { PushID($0) }) : nil
    }
}
