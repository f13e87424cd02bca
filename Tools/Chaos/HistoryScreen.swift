import ChaosChecker
import SecurePushClient
import Synchronization

/// The screen of a device. The payloads that it shows and removes go into the history. Generic texts do not: a payload
/// must follow.
final class HistoryScreen: NotificationPresenter {
    private struct State {
        var visible: Set<PushID> = []
        var shown = 0
    }

    private let device: String
    private let history: HistoryWriter
    private let state = Mutex(State())

    init(device: String, history: HistoryWriter) { (self.device, self.history) = (device, history) }

    /// How many payloads were shown.
    var shown: Int { state.withLock { $0.shown } }

    func show(_ secret: SecretNotification) async {
        state.withLock { state in
            state.visible.insert(secret.id)
            state.shown += 1
        }
        history.write(.show(.init(time: HistoryWriter.now, device: device, id: secret.id.rawValue)))
    }

    func show(_ notice: GenericNotice) async {}
    func show(_ prompt: LogInPrompt) async {}

    func remove(_ ids: [PushID]) async {
        for id in ids where state.withLock({ $0.visible.remove(id) }) != nil {
            history.write(.hide(.init(time: HistoryWriter.now, device: device, id: id.rawValue)))
        }
    }

    func removePrompt() async {}
    func setBadge(_ count: Int) async {}
    func displayedSecrets() async -> Set<PushID>? { state.withLock { $0.visible } }
}
