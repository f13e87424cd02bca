internal import Crypto
internal import Domain
internal import Foundations
internal import Logging
internal import Metrics
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Checks Basic credentials (RFC 7617) against the users' file.
///
/// A check takes tens of milliseconds of CPU time and 16 MiB, on purpose. All checks of a process run on a small thread
/// pool, so that they cannot use up the memory and the threads of other requests. They wait in a ``PasswordQueue``,
/// where clients and users take turns. ``PasswordThrottle`` delays attempts after failures. Accepted credentials are
/// cached for some minutes, without the password, and equal credentials that arrive together are checked once.
final class PasswordVerifier: Sendable {
    /// How long accepted credentials are cached.
    static let lifetime = Duration.seconds(300)
    /// The maximum number of concurrent checks: half of the processors, so that the other half serves requests.
    static let maxRunning = max(1, min(8, System.coreCount / 2))

    private struct Accepted {
        let login: PasswordLogin
        let passwords: UserPasswords
        let end: ContinuousClock.Instant
    }

    private enum Outcome {
        case right(PasswordLogin), cancelled
        /// The answer is to be given after this time.
        case wrong(after: Duration)
        case refused(PasswordRefusal)

        var result: PasswordLog.Result {
            switch self {
            case .right: .accepted
            case .wrong: .wrong
            case .refused(.throttled): .throttled
            case .refused(.busy), .cancelled: .busy
            }
        }
    }

    private enum Turn {
        case check, cancelled
        case refused(PasswordRefusal)
    }

    /// A check that waits or runs, and the number of its callers.
    private struct Check {
        let task: Task<Outcome, Never>
        var callers = 1
    }

    /// Callers with the same credentials share a check if they are one client: the limits are the client's.
    private struct CheckKey: Hashable {
        let credentials: CacheKey
        let client: ClientAddress?
    }

    private struct State {
        var throttle = PasswordThrottle()
        var queue = PasswordQueue<CheckedContinuation<Turn, Never>>()
        var checks: [CheckKey: Check] = [:]
    }

    /// One pool per process, because it bounds the memory. It is never shut down.
    private static let threads = NIOThreadPool._makePerpetualStartedPool(
        numberOfThreads: maxRunning, threadNamePrefix: "scrypt-")

    private let file: ReloadingFile<UserPasswords>
    private let log: PasswordLog
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The only user who can log in; `nil` for every user of the file.
    private let onlyUser: UserName?
    private let secret = SymmetricKey(size: .bits256)
    private let cache = Mutex(GenerationalCache<CacheKey, Accepted>(capacity: 4096))
    private let state = Mutex(State())

    init(
        file: ReloadingFile<UserPasswords>, log: PasswordLog, onlyUser: UserName? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.file = file
        self.log = log
        self.onlyUser = onlyUser
        self.now = now
    }

    /// The user whose credentials these are, and the entry of the file that they fit.
    ///
    /// - Parameter client: the address of the client.
    /// - Throws: ``AuthenticationError`` without challenges: `malformed`, `invalid`, `unavailable`, `throttled`. A
    ///   wrong password may have a ``AuthenticationError/delay``, which the caller of the service has to wait.
    func verify(
        _ header: AuthorizationHeader, from client: ClientAddress?
    ) async throws(AuthenticationError) -> PasswordLogin {
        let key = CacheKey(password: String(header.credentials), secret: secret)
        guard let known = file.usable else { throw .credentialsUnusable }
        if let login = remembered(key, known) { return login }
        // A user who was just added is accepted at once.
        await file.check()
        guard file.usable != nil else { throw .credentialsUnusable }
        let (user, password) = try Self.credentials(header)
        guard let user else { throw AuthenticationError(.invalid, Self.wrong) }
        // The name is no secret and needs no hash: checks of other names would only make the one user wait.
        if let onlyUser, !Self.isSame(user, onlyUser) {
            log.note(.wrong, from: client, at: now())
            throw AuthenticationError(.invalid, Self.wrong)
        }
        let outcome = await outcome(of: CheckKey(credentials: key, client: client)) {
            await self.check(PasswordThrottle.Attempt(user: user, client: client)) {
                // The current file: the turn may come seconds later.
                guard let passwords = self.file.usable, passwords.matches(user, password),
                    let entry = passwords.fingerprint(of: user)
                else { return .wrong(after: .zero) }
                let login = PasswordLogin(user: user, entry: entry)
                self.remember(key, login, passwords)
                return .right(login)
            }
        }
        log.note(outcome.result, from: client, at: now())
        switch outcome {
        case .right(let login): return login
        case .wrong(let delay): throw AuthenticationError(.invalid, Self.wrong, delay: delay)
        case .refused(.throttled(let wait)):
            throw AuthenticationError(
                .throttled, "Too many logins of this user or client have failed.", retryAfter: wait)
        case .refused(.busy):
            throw AuthenticationError(.unavailable, "Too many passwords are waiting to be checked.")
        case .cancelled:
            throw AuthenticationError(.unavailable, "The check of the password was cancelled.")
        }
    }

    private static let wrong = "The user name or the password is wrong."

    /// Compares in constant time.
    private static func isSame(_ name: UserName, _ other: UserName) -> Bool {
        SymmetricKey(data: Array(name.text.utf8)) == SymmetricKey(data: Array(other.text.utf8))
    }
}

// MARK: - Waiting and checking

extension PasswordVerifier {
    /// The outcome of a check of these credentials: of one that is in progress, or else of a new one.
    private func outcome(of key: CheckKey, _ check: @escaping @Sendable () async -> Outcome) async -> Outcome {
        let task = state.withLock { state in
            if state.checks[key] != nil {
                state.checks[key]?.callers += 1
            } else {
                state.checks[key] = Check(task: Task { await check() })
            }
            return state.checks[key]?.task
        }
        // Whoever is told first ends the check for those who come later. Nobody may join one that was cancelled.
        return await withTaskCancellationHandler {
            let outcome = await task?.value ?? .cancelled
            state.withLock { if $0.checks[key]?.task == task { $0.checks[key] = nil } }
            return outcome
        } onCancel: {
            let abandoned = state.withLock { state -> Task<Outcome, Never>? in
                guard state.checks[key]?.task == task, let callers = state.checks[key]?.callers else { return nil }
                state.checks[key]?.callers = callers - 1
                guard callers == 1 else { return nil }
                state.checks[key] = nil
                return task
            }
            abandoned?.cancel()
        }
    }

    /// Waits for its turn, checks on a thread of the pool, and notes the result.
    private func check(
        _ attempt: PasswordThrottle.Attempt, _ compare: @escaping @Sendable () -> Outcome
    ) async -> Outcome {
        switch await turn(attempt) {
        case .cancelled: return .cancelled
        case .refused(let refusal): return .refused(refusal)
        case .check: break
        }
        let found = (try? await Self.threads.runIfActive(compare)) ?? .cancelled
        let delay = state.withLock { state in
            state.queue.finish(attempt)
            switch found {
            case .right: state.throttle.succeeded(attempt, at: now())
            case .wrong: return state.throttle.failed(attempt, at: now())
            case .cancelled, .refused: break
            }
            return Duration.zero
        }
        giveTurns()
        if case .wrong = found { return .wrong(after: delay) }
        return found
    }

    private func turn(_ attempt: PasswordThrottle.Attempt) async -> Turn {
        let number = state.withLock { $0.queue.makeNumber() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let refused = state.withLock { state -> (CheckedContinuation<Turn, Never>, PasswordRefusal)? in
                    if let wait = state.throttle.wait(of: attempt, at: now()) {
                        return (continuation, .throttled(wait))
                    }
                    do throws(PasswordRefusal) {
                        let dropped = try state.queue.append(continuation, number: number, attempt)
                        return dropped.map { ($0, .busy) }
                    } catch {
                        return (continuation, error)
                    }
                }
                if let (ticket, refusal) = refused { ticket.resume(returning: .refused(refusal)) }
                giveTurns()
                // The task was cancelled before the ticket was in the queue: the handler below found nothing to remove.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Removes a ticket from the queue when nobody waits for its outcome any more.
    private func leave(_ number: UInt64) {
        state.withLock { $0.queue.remove(number) }?.resume(returning: .cancelled)
    }

    /// Starts the next checks while a thread is free.
    private func giveTurns() {
        while true {
            let next = state.withLock { state -> (CheckedContinuation<Turn, Never>, Turn)? in
                guard state.queue.runningCount < Self.maxRunning, let next = state.queue.next() else { return nil }
                // Earlier checks may have failed since the ticket was added to the queue.
                guard let wait = state.throttle.wait(of: next.attempt, at: now()) else { return (next.ticket, .check) }
                state.queue.finish(next.attempt)
                return (next.ticket, .refused(.throttled(wait)))
            }
            guard let (ticket, turn) = next else { return }
            ticket.resume(returning: turn)
        }
    }
}

// MARK: - Accepted credentials

extension PasswordVerifier {
    private func remembered(_ key: CacheKey, _ passwords: UserPasswords) -> PasswordLogin? {
        cache.withLock { cache in
            guard let accepted = cache.value(for: key) else { return nil }
            guard accepted.passwords === passwords, now() < accepted.end else {
                cache.remove(key)
                return nil
            }
            return accepted.login
        }
    }

    private func remember(_ key: CacheKey, _ login: PasswordLogin, _ passwords: UserPasswords) {
        let accepted = Accepted(login: login, passwords: passwords, end: now() + Self.lifetime)
        cache.withLock { $0.insert(accepted, for: key) }
    }

    /// The name before the first colon and the password after it. The name is `nil` if no user can have it.
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

/// Counts the results of password checks in `securepush_password_checks_total`, and logs one line per minute if many
/// are wrong or refused.
final class PasswordLog: Sendable {
    enum Result: String, CaseIterable { case accepted, wrong, throttled, busy }

    /// Fewer wrong passwords per minute than this are typing mistakes, and not logged.
    static let minForLine = 10
    static let interval = Duration.seconds(60)

    private struct Period {
        var counts: [Result: Int] = [:]
        var nextLine: ContinuousClock.Instant?
    }

    private let period = Mutex(Period())
    private let counters: [Result: Counter]
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
        counters = Dictionary(
            uniqueKeysWithValues: Result.allCases.map {
                ($0, Counter(label: "securepush_password_checks_total", dimensions: [("result", $0.rawValue)]))
            })
    }

    func note(_ result: Result, from client: ClientAddress?, at now: ContinuousClock.Instant) {
        counters[result]?.increment()
        guard result != .accepted else { return }
        let counts = period.withLock { period -> [Result: Int]? in
            period.counts[result, default: 0] += 1
            guard period.counts.values.reduce(0, +) >= Self.minForLine, now >= period.nextLine ?? now else {
                return nil
            }
            defer { period = Period(nextLine: now + Self.interval) }
            return period.counts
        }
        guard let counts else { return }
        // Names are not logged, because users sometimes type their password in place of the name.
        var metadata: Logger.Metadata = ["last_client": "\(client.map(\.description) ?? "unknown")"]
        for (result, count) in counts { metadata[result.rawValue] = "\(count)" }
        logger.warning("Many passwords were wrong or refused since the last line of this kind", metadata: metadata)
    }
}
