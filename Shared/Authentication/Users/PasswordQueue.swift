internal import SecurePushCore

/// Why a password was not checked.
enum PasswordRefusal: Error, Equatable {
    /// Too many attempts of this user or client. The next one is checked after this time.
    case throttled(Duration)
    /// The queue is full.
    case busy
}

/// The order of the checks: clients take turns, and so do the users of a client. It is a bounded value without threads.
///
/// A client with many passwords delays only itself. A user with many passwords delays other users of the same client by
/// one check each.
struct PasswordQueue<Ticket> {
    /// The maximum number of waiting checks: some seconds of work.
    static var maxWaiting: Int { 256 }
    /// The maximum number per client, which may be a proxy of many users.
    static var maxWaitingOfClient: Int { 128 }
    /// The maximum number per user and client, with those that are running.
    static var maxOfPair: Int { 8 }

    private struct User {
        let user: Int
        var tickets: [(number: UInt64, ticket: Ticket)]
    }

    private struct Client {
        let client: Int
        /// In the order of their turns.
        var users: [User]
        var count: Int { users.reduce(0) { $0 + $1.tickets.count } }
    }

    /// In the order of their turns.
    private var clients: [Client] = []
    private var running: [PasswordThrottle.Attempt: Int] = [:]
    private var lastNumber: UInt64 = 0
    private(set) var waitingCount = 0

    var runningCount: Int { running.values.reduce(0, +) }

    /// A number for a ticket, for ``remove(_:)``.
    mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a ticket at the end of the user's line.
    mutating func append(
        _ ticket: Ticket, number: UInt64, _ attempt: PasswordThrottle.Attempt
    ) throws(PasswordRefusal) {
        let at = clients.firstIndex { $0.client == attempt.client }
        let user = at.flatMap { at in clients[at].users.firstIndex { $0.user == attempt.user } }
        let waiting = at.flatMap { at in user.map { clients[at].users[$0].tickets.count } } ?? 0
        guard waiting + running[attempt, default: 0] < Self.maxOfPair,
            at.map({ clients[$0].count }) ?? 0 < Self.maxWaitingOfClient
        else { throw .throttled(.seconds(1)) }
        guard waitingCount < Self.maxWaiting else { throw .busy }
        let entry = (number: number, ticket: ticket)
        switch (at, user) {
        case (let at?, let user?): clients[at].users[user].tickets.append(entry)
        case (let at?, nil): clients[at].users.append(User(user: attempt.user, tickets: [entry]))
        default:
            clients.append(Client(client: attempt.client, users: [User(user: attempt.user, tickets: [entry])]))
        }
        waitingCount += 1
    }

    /// Removes and returns the next ticket. Its client and its user go to the end of their lines. The ticket counts as
    /// running until ``finish(_:)``.
    mutating func next() -> (ticket: Ticket, attempt: PasswordThrottle.Attempt)? {
        guard !clients.isEmpty else { return nil }
        var client = clients.removeFirst()
        var user = client.users.removeFirst()
        let entry = user.tickets.removeFirst()
        let attempt = PasswordThrottle.Attempt(userHash: user.user, clientHash: client.client)
        if !user.tickets.isEmpty { client.users.append(user) }
        if !client.users.isEmpty { clients.append(client) }
        waitingCount -= 1
        running[attempt, default: 0] += 1
        return (entry.ticket, attempt)
    }

    /// Notes that a check has ended.
    mutating func finish(_ attempt: PasswordThrottle.Attempt) {
        guard let count = running[attempt] else { return }
        running[attempt] = count > 1 ? count - 1 : nil
    }

    /// Removes a ticket whose caller has left; `nil` if it is not waiting.
    mutating func remove(_ number: UInt64) -> Ticket? {
        for at in clients.indices {
            for user in clients[at].users.indices {
                guard let place = clients[at].users[user].tickets.firstIndex(where: { $0.number == number }) else {
                    continue
                }
                let entry = clients[at].users[user].tickets.remove(at: place)
                if clients[at].users[user].tickets.isEmpty { clients[at].users.remove(at: user) }
                if clients[at].users.isEmpty { clients.remove(at: at) }
                waitingCount -= 1
                return entry.ticket
            }
        }
        return nil
    }
}
