import Foundations
import SecurePushClient
import Synchronization

/// The screen of a simulated device. It reports the notifications of an app, and lets the emulator's page show them.
final class DeviceScreen: DeviceDisplay {
    private struct State {
        var secrets: Set<PushID> = []
        var notices: Set<PushID> = []
        /// The prompt's identifier at the emulator: the newest ID that waits.
        var prompt: String?
        /// Texts since the last look.
        var shown = 0
        /// Secrets since the last look.
        var fresh: [PushID] = []
    }

    private struct Display: Encodable {
        var id: String?
        var text: String
        var kind: Kind

        enum Kind: String, Encodable { case payload, prompt }
    }

    let prompts: AsyncStream<Void>

    private let path: String
    private let emulator: APIClient
    private let countsPrompts: Bool
    private let report: @Sendable (DeviceEvent) -> Void
    private let prompted: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    /// - Parameters:
    ///   - countsPrompts: whether the prompt counts as a notification that was shown.
    ///   - report: called with each event that the user sees, without the platform.
    init(
        handle: String, emulator: APIClient, countsPrompts: Bool, report: @escaping @Sendable (DeviceEvent) -> Void
    ) {
        path = "/emulator/devices/\(PercentCoding.encode(handle))/display"
        self.emulator = emulator
        self.countsPrompts = countsPrompts
        self.report = report
        (prompts, prompted) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func takeShown() -> Int {
        state.withLock { state in
            defer { state.shown = 0 }
            return state.shown
        }
    }

    func takeSecrets() -> [PushID] {
        state.withLock { state in
            defer { state.fresh = [] }
            return state.fresh
        }
    }

    func show(_ secret: SecretNotification) async {
        state.withLock { state in
            state.notices.remove(secret.id)
            state.fresh.append(secret.id)
            state.secrets.insert(secret.id)
            state.shown += 1
        }
        var event = DeviceEvent(.shows, id: secret.id.rawValue, text: secret.text, kind: .payload)
        if let message = secret.message {
            (event.title, event.link) = (message.title, message.link)
            event.actions = message.actions.isEmpty ? nil : message.actions.map(\.id)
        }
        report(event)
        await display(Display(id: secret.id.rawValue, text: secret.text, kind: .payload))
    }

    func show(_ notice: GenericNotice) async {
        let text = Self.text(notice.localizationKey)
        state.withLock { state in
            if let id = notice.id {
                state.notices.insert(id)
                // One that only the app shows.
                if notice.code == nil { state.fresh.append(id) }
            }
            state.shown += countsPrompts ? 1 : 0
        }
        report(
            DeviceEvent(
                .shows, id: notice.id?.rawValue, text: text, kind: .generic, reason: notice.code.map(Self.words)))
        await display(Display(id: notice.id?.rawValue, text: text, kind: .prompt))
    }

    func show(_ prompt: LogInPrompt) async {
        let (id, text) = (prompt.ids.last?.rawValue, Self.text(prompt.localizationKey))
        let old = state.withLock { state in
            defer { state.prompt = id }
            state.shown += countsPrompts ? 1 : 0
            return state.prompt
        }
        report(DeviceEvent(.shows, id: id, text: text, kind: .prompt, reason: Self.words(prompt.code)))
        if let old, old != id { await remove(display: old) }
        await display(Display(id: id, text: text, kind: .prompt))
        prompted.yield()
    }

    func remove(_ ids: [PushID]) async {
        for id in ids {
            let wasShown = state.withLock { state in
                let (secret, notice) = (state.secrets.remove(id), state.notices.remove(id))
                return secret != nil || notice != nil
            }
            guard wasShown else { continue }
            report(DeviceEvent(.removed, id: id.rawValue))
            await remove(display: id.rawValue)
        }
    }

    func removePrompt() async {
        let prompt = state.withLock { state in
            defer { state.prompt = nil }
            return state.prompt
        }
        guard let prompt, let id = PushID(prompt) else { return }
        report(DeviceEvent(.removed, id: prompt, kind: .prompt))
        // The secret may have taken its place already.
        if !state.withLock({ $0.secrets.contains(id) }) { await remove(display: prompt) }
    }

    func setBadge(_ count: Int) async {}

    func displayedSecrets() async -> Set<PushID>? { state.withLock { $0.secrets } }

    // The emulator's page is a convenience, so its errors are ignored.

    private func display(_ display: Display) async {
        guard let json = try? JSONCoding.encode(display) else { return }
        _ = try? await emulator.send(.post, path, json: json)
    }

    private func remove(display id: String) async {
        _ = try? await emulator.send(.delete, "\(path)/\(PercentCoding.encode(id))")
    }

    static func text(_ key: String) -> String {
        let texts = ClientTexts()
        return switch key {
        case texts.logIn: "You have a new message. Log in to read it."
        case texts.locked: "You may have new messages. Unlock your device to read them."
        default: "You have a new message. Open the app to read it."
        }
    }

    /// The reason for the generic text or the prompt, in words and as the code.
    static func words(_ code: DiagnosticCode) -> String {
        if code == .loggedOut { return "nobody is logged in, \(code)" }
        return code.status.map { "the server answered \($0), \(code)" } ?? code.rawValue
    }
}
