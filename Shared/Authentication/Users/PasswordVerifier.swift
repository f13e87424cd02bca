internal import Crypto
internal import Logging
internal import NIOPosix
internal import SecurePushCore
internal import Synchronization

/// Checks Basic credentials (RFC 7617) against the users' file.
///
/// A check takes tens of milliseconds of a processor and 16 MiB, both on purpose. All of a process run one after
/// another on one thread, so that passwords can take neither the memory nor the threads that serve everyone else;
/// what does not fit into the queue is refused. What has been accepted is remembered for some minutes, without the
/// password.
final class PasswordVerifier: Sendable {
    /// How many checks may wait or run.
    static let queueLimit = 64
    /// How long accepted credentials are remembered.
    static let lifetime = Duration.seconds(300)

    private struct Accepted {
        let user: UserName
        let passwords: UserPasswords
        let end: ContinuousClock.Instant
    }

    /// One for the process, because memory is what it bounds; it has no end to wait for.
    private static let thread = NIOThreadPool._makePerpetualStartedPool(
        numberOfThreads: 1, threadNamePrefix: "scrypt-")

    private let file: ReloadingFile<UserPasswords>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let secret = SymmetricKey(size: .bits256)
    private let cache = Mutex(GenerationalCache<CacheKey, Accepted>(capacity: 4096))
    private let queued = Mutex(0)

    init(path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) throws {
        self.now = now
        file = try ReloadingFile(path: path, logger: logger, now: now) { try UserPasswords($0) }
    }

    /// The user whose credentials these are.
    ///
    /// - Throws: ``AuthenticationError`` without challenges: `malformed`, `invalid`, `unavailable`.
    func verify(_ header: AuthorizationHeader) async throws(AuthenticationError) -> UserName {
        let key = CacheKey(password: String(header.credentials), secret: secret)
        if let user = remembered(key, file.current) { return user }
        // Who was added a moment ago is known at once.
        let passwords = file.refreshed()
        let (user, password) = try Self.credentials(header)
        guard let user else { throw AuthenticationError(.invalid, Self.wrong) }
        try enqueue()
        defer { queued.withLock { $0 -= 1 } }
        let isRight: Bool
        do {
            isRight = try await Self.thread.runIfActive {
                // Whoever was before us in the queue may have asked the same.
                if self.remembered(key, passwords) != nil { return true }
                guard passwords.matches(user, password) else { return false }
                self.remember(key, user, passwords)
                return true
            }
        } catch {
            throw AuthenticationError(.unavailable, "The check of the password was given up.")
        }
        guard isRight else { throw AuthenticationError(.invalid, Self.wrong) }
        return user
    }

    private static let wrong = "The user name or the password is wrong."

    private func enqueue() throws(AuthenticationError) {
        let isAccepted = queued.withLock { queued in
            guard queued < Self.queueLimit else { return false }
            queued += 1
            return true
        }
        guard isAccepted else { throw AuthenticationError(.unavailable, "Too many passwords wait to be checked.") }
    }

    private func remembered(_ key: CacheKey, _ passwords: UserPasswords) -> UserName? {
        cache.withLock { cache in
            guard let accepted = cache.value(for: key) else { return nil }
            guard accepted.passwords === passwords, now() < accepted.end else {
                cache.remove(key)
                return nil
            }
            return accepted.user
        }
    }

    private func remember(_ key: CacheKey, _ user: UserName, _ passwords: UserPasswords) {
        let accepted = Accepted(user: user, passwords: passwords, end: now() + Self.lifetime)
        cache.withLock { $0.insert(accepted, for: key) }
    }

    /// The name before the first colon, and the password after it; the name is `nil` when no user could have it.
    private static func credentials(
        _ header: AuthorizationHeader
    ) throws(AuthenticationError) -> (user: UserName?, password: [UInt8]) {
        guard header.credentials.utf8.count <= 8192, let bytes = Base64.decode(header.credentials, .standard),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), String(validating: bytes, as: UTF8.self) != nil
        else {
            throw AuthenticationError(.malformed, "The Basic credentials are not name:password in UTF-8 and base64.")
        }
        let name = String(decoding: bytes[..<colon], as: UTF8.self)
        return (UserName(name), Array(bytes[(colon + 1)...]))
    }
}
