import Domain
import Synchronization

/// A hub that keeps what it is given, and refuses what a test says.
final class FakeHub: RegistrationGateway, InstallationGateway {
    /// The IDs of all puts and deletions.
    let requests = Mutex<[String]>([])
    let kept = Mutex<[String: String]>([:])
    let mostAtOnce = Mutex(0)
    let pauses = Mutex<[Duration]>([])
    private let atOnce = Mutex(0)
    private let refusal: Mutex<@Sendable (String) -> PushGatewayError?>

    init(_ refusal: @escaping @Sendable (String) -> PushGatewayError? = { _ in nil }) { self.refusal = Mutex(refusal) }

    func refuse(_ refusal: @escaping @Sendable (String) -> PushGatewayError?) {
        self.refusal.withLock { $0 = refusal }
    }

    func holds(_ id: String) -> Bool { content(id) != nil }
    func content(_ id: String) -> String? { kept.withLock { $0[id] } }

    /// As retrieval does.
    func remove(_ id: String) { kept.withLock { $0[id] = nil } }

    private func change(_ id: String, _ text: String?) async throws {
        requests.withLock { $0.append(id) }
        let count = atOnce.withLock { count in
            count += 1
            return count
        }
        mostAtOnce.withLock { $0 = max($0, count) }
        defer { atOnce.withLock { $0 -= 1 } }
        await Task.yield()
        if let error = refusal.withLock({ $0 })(id) { throw error }
        kept.withLock { $0[id] = text }
    }

    func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws { try await change(id, "\(platform) \(handle) \(tags.joined(separator: ","))") }
    func putInstallation(_ id: String, document: [UInt8]) async throws {
        try await change(id, String(decoding: document, as: UTF8.self))
    }
    func deleteRegistration(_ id: String) async throws { try await change(id, nil) }
    func deleteInstallation(_ id: String) async throws { try await change(id, nil) }
    func createRegistrationID() async throws -> String { "" }
    func registrations(handle: String) async throws -> [HubRegistration] { [] }
}
