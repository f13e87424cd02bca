internal import SecurePushCore

/// Who has failed to log in how often, and what follows: a wait before the next attempt, and an answer that is held
/// back. A value, without clock or threads; every table is bounded.
///
/// Failures count three ways. By user and client: each from the fifth on doubles the wait of this user at this client.
/// By user: from the hundredth on, clients from which the user has not logged in lately wait as well, which slows
/// guessing from many addresses and leaves the user's own devices alone. By client: from the tenth on, answers to wrong
/// passwords are held back for up to five seconds, but nobody is refused, for the client may be a proxy or a network
/// that many users share.
struct PasswordThrottle {
    /// Of each of the three tables: an attacker may name as many users as he likes, and the oldest are forgotten.
    static let maxRecords = 16_384
    static let freeFailuresOfPair = 5
    static let freeFailuresOfUser = 100
    static let freeFailuresOfClient = 10
    static let maxWait = Duration.seconds(300)
    static let maxWaitOfUser = Duration.seconds(30)
    static let maxHold = Duration.seconds(5)
    /// After so long without a failure all is forgotten.
    static let memory = Duration.seconds(900)

    /// A user at a client. Names are hashed, because they come from outside and may be long.
    struct Attempt: Hashable {
        let user: Int
        let client: Int

        init(user: UserName?, client: ClientAddress?) {
            self.user = user.hashValue
            self.client = client.hashValue
        }

        init(userHash: Int, clientHash: Int) {
            user = userHash
            client = clientHash
        }
    }

    private struct Record {
        var failures = 0
        var last: ContinuousClock.Instant
        var blockedUntil: ContinuousClock.Instant
        var hasSucceeded = false
    }

    private var pairs = GenerationalCache<Attempt, Record>(capacity: maxRecords)
    private var users = GenerationalCache<Int, Record>(capacity: maxRecords)
    private var clients = GenerationalCache<Int, Record>(capacity: maxRecords)

    var recordCount: Int { pairs.count + users.count + clients.count }

    /// - Returns: how long the attempt must wait, `nil` when it may be checked now.
    mutating func wait(of attempt: Attempt, at now: ContinuousClock.Instant) -> Duration? {
        let pair = pairs.value(for: attempt)
        if let pair, pair.blockedUntil > now { return pair.blockedUntil - now }
        if let pair, pair.hasSucceeded { return nil }
        guard let user = users.value(for: attempt.user), user.blockedUntil > now else { return nil }
        return user.blockedUntil - now
    }

    /// Notes a wrong password.
    ///
    /// - Returns: how long the answer is to be held back.
    mutating func failed(_ attempt: Attempt, at now: ContinuousClock.Instant) -> Duration {
        var pair = Self.renewed(pairs.value(for: attempt), at: now)
        pair.blockedUntil = now + Self.delay(pair.failures - Self.freeFailuresOfPair, max: Self.maxWait)
        pairs.insert(pair, for: attempt)
        if !pair.hasSucceeded {
            var user = Self.renewed(users.value(for: attempt.user), at: now)
            user.blockedUntil = now + Self.delay(user.failures - Self.freeFailuresOfUser, max: Self.maxWaitOfUser)
            users.insert(user, for: attempt.user)
        }
        let client = Self.renewed(clients.value(for: attempt.client), at: now)
        clients.insert(client, for: attempt.client)
        let over = max(0, client.failures - Self.freeFailuresOfClient)
        return min(Self.maxHold, .milliseconds(100) * min(over, 100))
    }

    /// Notes a right password: this user at this client begins afresh.
    mutating func succeeded(_ attempt: Attempt, at now: ContinuousClock.Instant) {
        pairs.insert(Record(last: now, blockedUntil: now, hasSucceeded: true), for: attempt)
    }

    private static func renewed(_ record: Record?, at now: ContinuousClock.Instant) -> Record {
        var record = record ?? Record(last: now, blockedUntil: now)
        if now - record.last > memory { record.failures = 0 }
        record.failures = min(record.failures + 1, 1_000_000)
        record.last = now
        return record
    }

    /// 1 s, doubled with each failure over what is free.
    private static func delay(_ over: Int, max limit: Duration) -> Duration {
        guard over >= 0 else { return .zero }
        return min(limit, .seconds(1 << min(over, 16)))
    }
}
