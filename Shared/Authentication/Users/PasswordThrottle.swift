internal import Domain
internal import Foundations

/// Counts failed logins and slows down the next attempts. It is a value without clock or threads, and every table is
/// bounded.
///
/// Failures are counted in four ways:
/// - Per user and client: from the fifth on, each doubles the wait of this user at this client.
/// - Per user and provider's network: from the hundredth on, clients of this network where the user has not logged in
///   recently wait as well. This slows guessing from many addresses, and does not affect the user's own devices.
/// - Per user: the same, for clients everywhere. Each network adds its first ten only, so that the many addresses of
///   one do not lock the user out elsewhere.
/// - Per client: from the tenth on, answers to wrong passwords are delayed for up to five seconds. Nobody is refused,
///   because the client may be a proxy or a network of many users.
struct PasswordThrottle {
    /// The size of each of the four tables. An attacker can name any number of users, so the oldest are dropped.
    static let maxRecords = 16_384
    static let freeFailuresOfPair = 5
    static let freeFailuresOfUser = 100
    /// How many failures of a user in one network count everywhere.
    static let maxFailuresOfNetwork = 10
    static let freeFailuresOfClient = 10
    static let maxWait = Duration.seconds(300)
    static let maxWaitOfUser = Duration.seconds(30)
    static let maxHold = Duration.seconds(5)
    /// After this time without a failure everything is forgotten.
    static let memory = Duration.seconds(900)

    /// A user at a client. Names are hashed, because clients choose them and they may be long.
    struct Attempt: Hashable {
        let user: Int
        let client: Int
        /// The networks of the client, the larger one first.
        private let networks: (Int, Int)

        init(user: UserName?, client: ClientAddress?) {
            self.user = user.hashValue
            self.client = client.hashValue
            networks = (client?.provider.hashValue ?? 0, client?.site.hashValue ?? 0)
        }

        /// From the largest group of clients to the user.
        var path: ArraySlice<Int> { [networks.0, networks.1, client, user] }

        /// The user at any client of the larger network.
        var crowd: [Int] { [networks.0, user] }

        static func == (lhs: Attempt, rhs: Attempt) -> Bool { lhs.user == rhs.user && lhs.client == rhs.client }

        func hash(into hasher: inout Hasher) {
            hasher.combine(user)
            hasher.combine(client)
        }
    }

    private struct Record {
        var failures = 0
        var last: ContinuousClock.Instant
        var blockedUntil: ContinuousClock.Instant
        var hasSucceeded = false
    }

    private var pairs = GenerationalCache<Attempt, Record>(capacity: maxRecords)
    private var crowds = GenerationalCache<[Int], Record>(capacity: maxRecords)
    private var users = GenerationalCache<Int, Record>(capacity: maxRecords)
    private var clients = GenerationalCache<Int, Record>(capacity: maxRecords)

    var recordCount: Int { pairs.count + crowds.count + users.count + clients.count }

    /// - Returns: how long the attempt must wait; `nil` if it may be checked now.
    mutating func wait(of attempt: Attempt, at now: ContinuousClock.Instant) -> Duration? {
        let pair = pairs.value(for: attempt)
        if let pair, pair.blockedUntil > now { return pair.blockedUntil - now }
        if let pair, pair.hasSucceeded { return nil }
        let ends = [crowds.value(for: attempt.crowd), users.value(for: attempt.user)].compactMap { $0?.blockedUntil }
        guard let end = ends.max(), end > now else { return nil }
        return end - now
    }

    /// Notes a wrong password.
    ///
    /// - Returns: how long to delay the answer.
    mutating func failed(_ attempt: Attempt, at now: ContinuousClock.Instant) -> Duration {
        var pair = Self.renewed(pairs.value(for: attempt), at: now)
        pair.blockedUntil = now + Self.delay(pair.failures - Self.freeFailuresOfPair, max: Self.maxWait)
        pairs.insert(pair, for: attempt)
        if !pair.hasSucceeded {
            let crowd = Self.blocked(crowds.value(for: attempt.crowd), at: now)
            crowds.insert(crowd, for: attempt.crowd)
            if crowd.failures <= Self.maxFailuresOfNetwork {
                let user = Self.blocked(users.value(for: attempt.user), at: now)
                users.insert(user, for: attempt.user)
            }
        }
        let client = Self.renewed(clients.value(for: attempt.client), at: now)
        clients.insert(client, for: attempt.client)
        let over = max(0, client.failures - Self.freeFailuresOfClient)
        return min(Self.maxHold, .milliseconds(100) * min(over, 100))
    }

    /// Notes a correct password. The counter of this user at this client starts again.
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

    /// The record of a user at many clients, after one more failure.
    private static func blocked(_ record: Record?, at now: ContinuousClock.Instant) -> Record {
        var record = renewed(record, at: now)
        record.blockedUntil = now + delay(record.failures - freeFailuresOfUser, max: maxWaitOfUser)
        return record
    }

    /// 1 s, doubled with each failure above the free ones.
    private static func delay(_ over: Int, max limit: Duration) -> Duration {
        guard over >= 0 else { return .zero }
        return min(limit, .seconds(1 << min(over, 16)))
    }
}
