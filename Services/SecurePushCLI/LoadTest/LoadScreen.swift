import Domain
import Foundations
import SecurePushClient

/// The screen of a load test's device: measures when a payload is there.
struct LoadScreen: DeviceDisplay {
    /// The payload of every notification of this test.
    let payload: String
    let measurements: LoadMeasurements

    func show(_ secret: SecretNotification) async {
        let now = Timestamp.now
        // Another test or sender may send to the same user.
        guard secret.text == payload, let id = NotificationID(secret.id.rawValue) else { return }
        measurements.update { $0.reads.show(id, latency: now - id.timestamp) }
    }

    func show(_ notice: GenericNotice) async { note([notice.id], notice.code) }
    func show(_ prompt: LogInPrompt) async { note(prompt.ids, prompt.code) }

    private func note(_ ids: [PushID?], _ code: DiagnosticCode?) {
        let ids = ids.compactMap { $0.flatMap { NotificationID($0.rawValue) } }
        measurements.update { state in
            for id in ids { state.reads.fail(id, code?.rawValue ?? "no text") }
        }
    }

    func remove(_ ids: [PushID]) async {}
    func removePrompt() async {}
    func setBadge(_ count: Int) async {}
    func displayedSecrets() async -> Set<PushID>? { nil }
}
