internal import Domain
internal import Foundations

/// Why a password was not checked.
enum PasswordRefusal: Error, Equatable {
    /// Too many attempts of this user or client. The next one is checked after this time.
    case throttled(Duration)
    /// The queue is full.
    case busy
}

/// The order of the checks: networks take turns, and so do the clients of a network and the users of a client. It is a
/// bounded value without threads.
///
/// A client with many passwords delays only itself. A user with many passwords delays other users of the same client by
/// one check each. If all places are taken, the newest ticket of whoever has the most gives way to a newcomer who has
/// fewer, first among networks, then among clients, then among users. So an attacker with many addresses of a few
/// networks, such as the /64 networks of an IPv6 prefix, does not shut out others.
struct PasswordQueue<Ticket> {
    /// The maximum number of waiting checks: some seconds of work.
    static var maxWaiting: Int { 256 }
    /// The maximum number per client, which may be a proxy of many users.
    static var maxWaitingOfClient: Int { 128 }
    /// The maximum number per user and client, with those that are running.
    static var maxOfPair: Int { 8 }

    private var all = Line(key: 0)
    private var running: [PasswordThrottle.Attempt: Int] = [:]
    private var lastNumber: UInt64 = 0

    var waitingCount: Int { all.count }
    var runningCount: Int { running.values.reduce(0, +) }

    /// A number for a ticket, for ``remove(_:)``.
    mutating func makeNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a ticket at the end of the user's line.
    ///
    /// - Returns: the ticket that gave way, if all places were taken.
    mutating func append(
        _ ticket: Ticket, number: UInt64, _ attempt: PasswordThrottle.Attempt
    ) throws(PasswordRefusal) -> Ticket? {
        let path = attempt.path
        guard all.count(at: path) + running[attempt, default: 0] < Self.maxOfPair else {
            throw .throttled(.seconds(1))
        }
        var dropped: Entry?
        if all.count(at: path.dropLast()) >= Self.maxWaitingOfClient {
            dropped = all.makeRoom(for: path, within: path.count - 1)
            if dropped == nil { throw .throttled(.seconds(1)) }
        } else if all.count >= Self.maxWaiting {
            dropped = all.makeRoom(for: path)
            if dropped == nil { throw .busy }
        }
        all.append(Entry(number: number, ticket: ticket, attempt: attempt), to: path)
        return dropped?.ticket
    }

    /// Removes and returns the next ticket. Its network, its client and its user go to the end of their lines. The
    /// ticket counts as running until ``finish(_:)``.
    mutating func next() -> (ticket: Ticket, attempt: PasswordThrottle.Attempt)? {
        guard let entry = all.takeFirst() else { return nil }
        running[entry.attempt, default: 0] += 1
        return (entry.ticket, entry.attempt)
    }

    /// Notes that a check has ended.
    mutating func finish(_ attempt: PasswordThrottle.Attempt) {
        guard let count = running[attempt] else { return }
        running[attempt] = count > 1 ? count - 1 : nil
    }

    /// Removes a ticket whose caller has left; `nil` if it is not waiting.
    mutating func remove(_ number: UInt64) -> Ticket? { all.remove(number)?.ticket }
}

extension PasswordQueue {
    private struct Entry {
        let number: UInt64
        let ticket: Ticket
        let attempt: PasswordThrottle.Attempt
    }

    /// The tickets of a user, or the lines of a client, of a network or of all.
    private struct Line {
        let key: Int
        /// In the order of their turns. None is empty.
        private var lines: [Line] = []
        private var entries: [Entry] = []
        private(set) var count = 0

        init(key: Int) { self.key = key }

        func count(at path: ArraySlice<Int>) -> Int {
            guard let key = path.first else { return count }
            return lines.first { $0.key == key }?.count(at: path.dropFirst()) ?? 0
        }

        mutating func append(_ entry: Entry, to path: ArraySlice<Int>) {
            count += 1
            guard let key = path.first else { return entries.append(entry) }
            if !lines.contains(where: { $0.key == key }) { lines.append(Line(key: key)) }
            for at in lines.indices where lines[at].key == key { lines[at].append(entry, to: path.dropFirst()) }
        }

        mutating func takeFirst() -> Entry? {
            if count == 0 { return nil }
            count -= 1
            if lines.isEmpty { return entries.removeFirst() }
            var line = lines.removeFirst()
            defer { if line.count > 0 { lines.append(line) } }
            return line.takeFirst()
        }

        mutating func remove(_ number: UInt64) -> Entry? {
            if let at = entries.firstIndex(where: { $0.number == number }) {
                count -= 1
                return entries.remove(at: at)
            }
            for at in lines.indices {
                if let entry = change(at, { $0.remove(number) }) { return entry }
            }
            return nil
        }

        /// Drops a ticket of a line that has more tickets than the line of `path` will have.
        ///
        /// - Parameter depth: how many lines of the path the dropped ticket must share.
        mutating func makeRoom(for path: ArraySlice<Int>, within depth: Int = 0) -> Entry? {
            guard let key = path.first else { return nil }
            let own = lines.firstIndex { $0.key == key }
            let ownCount = own.map { lines[$0].count } ?? 0
            if depth == 0, let largest = lines.indices.reversed().max(by: { lines[$0].count < lines[$1].count }),
                lines[largest].count > ownCount + 1
            {
                return change(largest) { $0.takeNewest() }
            }
            return own.flatMap { own in
                change(own) { $0.makeRoom(for: path.dropFirst(), within: max(0, depth - 1)) }
            }
        }

        /// The newest ticket of the largest line; of several, of the one whose turn comes last.
        private mutating func takeNewest() -> Entry? {
            guard let largest = lines.indices.reversed().max(by: { lines[$0].count < lines[$1].count }) else {
                count -= 1
                return entries.removeLast()
            }
            return change(largest) { $0.takeNewest() }
        }

        /// Removes a ticket of a line.
        private mutating func change(_ at: Int, _ removal: (inout Line) -> Entry?) -> Entry? {
            guard let entry = removal(&lines[at]) else { return nil }
            count -= 1
            if lines[at].count == 0 { lines.remove(at: at) }
            return entry
        }
    }
}
