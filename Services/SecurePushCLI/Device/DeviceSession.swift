import SecurePushClient
import Synchronization

/// The log-in of a simulated device: which credentials its app has now.
final class DeviceSession: CredentialsProvider {
    private let user: String
    private let current: Mutex<ClientCredentials?>

    /// - Parameter credentials: `nil` if nobody is logged in.
    init(user: String, credentials: ClientCredentials?) {
        self.user = user
        current = Mutex(credentials)
    }

    /// Logs in with these credentials; `nil` logs out. The device belongs to the user in both cases.
    func use(_ credentials: ClientCredentials?) { current.withLock { $0 = credentials } }

    func userName() async -> String? { user }

    func credentials() async throws -> ClientCredentials? { current.withLock { $0 } }

    /// There is nothing to refresh; but the user may have logged in meanwhile.
    func refresh(after refused: ClientCredentials) async throws -> ClientCredentials? {
        current.withLock { $0 == refused ? nil : $0 }
    }
}
