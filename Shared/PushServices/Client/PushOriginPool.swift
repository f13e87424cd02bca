import DequeModule
import NIOCore

/// Decides which request of one origin goes over which connection: a value without I/O that returns actions.
///
/// The oldest connection with room takes the next request, so that unneeded connections become idle. A connection is
/// opened when requests wait and no connection has room: one at a time where the server has HTTP/2, because it will
/// have room for many.
struct PushOriginPool {
    typealias Connection = Int

    enum Action: Equatable {
        case start(PushSend, Connection)
        /// Send a PING to test the connection.
        case check(Connection)
        case connect
    }

    struct Limits: Sendable {
        var connections: Int
        var waiting: Int
        /// See ``PushHTTPClientConfiguration/pingsAfterIdle``.
        var checksAfterIdle: TimeAmount?
        /// No connection is opened for this time after one failed while others serve.
        var pause = TimeAmount.seconds(1)
    }

    private struct Member {
        let connection: Connection
        /// The maximum of requests in flight.
        var room: Int
        var inFlight = 0
        var idleSince: NIODeadline
        var isChecking = false
        /// Whether the server has answered a PING since the last request.
        var isChecked = false
    }

    private struct Repeat {
        let send: PushSend
        /// The connection whose server did not process the request.
        let avoided: Connection
    }

    let limits: Limits
    private var waiting: Deque<PushSend> = []
    private var repeats: Deque<Repeat> = []
    private var members: [Member] = []
    private(set) var opening = 0
    /// Connections that take no requests any more, and are not closed yet.
    private var leaving: Set<Connection> = []
    private var isMultiplexed: Bool?
    private var pausesUntil = NIODeadline.uptimeNanoseconds(0)
    private(set) var lastUsed: NIODeadline

    init(limits: Limits, now: NIODeadline) {
        self.limits = limits
        lastUsed = now
    }

    /// Whether there are neither requests nor connections.
    var isEmpty: Bool { isLeaving && leaving.isEmpty }

    /// Whether no request waits, none is in flight on a connection that takes more, and no connection is being opened.
    var isQuiet: Bool {
        waiting.isEmpty && repeats.isEmpty && opening == 0
            && members.allSatisfy { $0.inFlight == 0 && !$0.isChecking }
    }

    /// Whether only connections are left that take no more requests.
    var isLeaving: Bool { members.isEmpty && isQuiet }

    /// - Returns: false if too many requests wait.
    mutating func submit(_ send: PushSend, now: NIODeadline) -> Bool {
        lastUsed = now
        guard waiting.count < limits.waiting else { return false }
        waiting.append(send)
        return true
    }

    /// Takes back a request that a server did not process: it is next, on another connection if there can be one.
    mutating func submitAgain(_ send: PushSend, avoiding connection: Connection) {
        repeats.append(Repeat(send: send, avoided: connection))
    }

    /// The next action; to be called until it returns `nil`.
    mutating func next(now: NIODeadline) -> Action? {
        if let first = repeats.first, let index = member(avoiding: first.avoided, now: now) {
            return use(index, now: now) { $0.repeats.removeFirst().send }
        }
        if !waiting.isEmpty, let index = member(avoiding: nil, now: now) {
            return use(index, now: now) { $0.waiting.removeFirst() }
        }
        if mayConnect(now: now) {
            opening += 1
            return .connect
        }
        // There will be no other connection soon.
        if !repeats.isEmpty, opening == 0, let index = member(avoiding: nil, now: now) {
            return use(index, now: now) { $0.repeats.removeFirst().send }
        }
        return nil
    }

    private mutating func use(
        _ index: Int, now: NIODeadline, _ take: (inout PushOriginPool) -> PushSend
    ) -> Action {
        if isStale(members[index], now: now) {
            members[index].isChecking = true
            return .check(members[index].connection)
        }
        members[index].inFlight += 1
        members[index].isChecked = false
        return .start(take(&self), members[index].connection)
    }

    /// The connection for the next request: one that was used lately, or else one to be checked.
    private func member(avoiding avoided: Connection?, now: NIODeadline) -> Int? {
        let free = members.indices.filter { index in
            let member = members[index]
            return member.inFlight < member.room && !member.isChecking && member.connection != avoided
        }
        return free.first { !isStale(members[$0], now: now) } ?? free.first
    }

    private func isStale(_ member: Member, now: NIODeadline) -> Bool {
        guard isMultiplexed == true, member.inFlight == 0, !member.isChecked, let time = limits.checksAfterIdle else {
            return false
        }
        return now - member.idleSince > time
    }

    private func mayConnect(now: NIODeadline) -> Bool {
        let wanted = isMultiplexed == false ? waiting.count + repeats.count : min(1, waiting.count + repeats.count)
        let coming = opening + members.count { $0.isChecking }
        // Connections that leave have requests in flight. Their number has a bound too.
        return coming < wanted && members.count + opening < limits.connections
            && leaving.count < 2 * limits.connections && now >= pausesUntil
    }
}

// MARK: - Connections

extension PushOriginPool {
    mutating func connected(_ connection: Connection, room: Int, isMultiplexed: Bool, now: NIODeadline) {
        opening -= 1
        self.isMultiplexed = isMultiplexed
        members.append(Member(connection: connection, room: room, idleSince: now))
    }

    /// A connection could not be opened.
    ///
    /// - Returns: the requests to fail: all that wait, if no other connection is open or being opened.
    mutating func connectFailed(now: NIODeadline) -> [PushSend] {
        opening -= 1
        return failWaiting(now: now)
    }

    private mutating func failWaiting(now: NIODeadline) -> [PushSend] {
        guard members.isEmpty, opening == 0 else {
            pausesUntil = now + limits.pause
            return []
        }
        return takeWaiting()
    }

    mutating func roomChanged(of connection: Connection, to room: Int) {
        change(connection) { $0.room = room }
    }

    /// The server has answered the PING.
    mutating func checked(_ connection: Connection) {
        change(connection) {
            $0.isChecked = $0.isChecking
            $0.isChecking = false
        }
    }

    /// A request is no longer in flight.
    mutating func ended(on connection: Connection, now: NIODeadline) {
        lastUsed = now
        change(connection) {
            $0.inFlight -= 1
            $0.idleSince = now
        }
    }

    private mutating func change(_ connection: Connection, _ body: (inout Member) -> Void) {
        guard let index = members.firstIndex(where: { $0.connection == connection }) else { return }
        body(&members[index])
    }

    /// A connection takes no more requests.
    ///
    /// - Parameter wasUseful: whether its server has processed a request. Otherwise it counts like one that could not
    ///   be opened: a server that closes every connection must not be asked again and again.
    /// - Returns: the requests to fail.
    mutating func left(_ connection: Connection, wasUseful: Bool, now: NIODeadline) -> [PushSend] {
        guard let index = members.firstIndex(where: { $0.connection == connection }) else { return [] }
        members.remove(at: index)
        leaving.insert(connection)
        return wasUseful ? [] : failWaiting(now: now)
    }

    /// A connection that has left is closed.
    mutating func closed(_ connection: Connection) { leaving.remove(connection) }

    /// Removes the connections that have been idle since a time or longer. The caller closes each.
    mutating func takeIdle(since time: NIODeadline) -> [Connection] {
        let idle = members.filter { $0.inFlight == 0 && !$0.isChecking && $0.idleSince <= time }.map(\.connection)
        members.removeAll { idle.contains($0.connection) }
        leaving.formUnion(idle)
        return idle
    }
}

// MARK: - Requests that wait

extension PushOriginPool {
    mutating func takeWaiting() -> [PushSend] {
        defer {
            waiting.removeAll()
            repeats.removeAll()
        }
        return repeats.map(\.send) + waiting
    }

    /// - Returns: false if the request does not wait.
    mutating func remove(_ number: UInt64) -> Bool {
        if let index = repeats.firstIndex(where: { $0.send.number == number }) {
            repeats.remove(at: index)
            return true
        }
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return false }
        waiting.remove(at: index)
        return true
    }
}
