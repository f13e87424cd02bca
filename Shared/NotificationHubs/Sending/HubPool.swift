import DequeModule
import NIOCore

/// Which request goes over which connection: a value without I/O that returns what to do.
///
/// Connections are opened when a request waits and none is idle, up to the limit, and the one used last is used next,
/// so that few stay warm and the rest grow old and are closed.
struct HubPool<Connection: AnyObject> {
    enum Action {
        case send(HubSend, Connection)
        case connect
    }

    private struct Idle {
        var connection: Connection
        var since: NIODeadline
    }

    let limit: Int
    private var waiting: Deque<HubSend> = []
    private var idle: [Idle] = []
    /// Connections there are, those being opened included.
    private(set) var open = 0
    private(set) var opening = 0
    /// Set after a failed attempt while other connections serve, so that attempts do not follow on each other's heels.
    private var holdsBack = false

    init(limit: Int) { self.limit = limit }

    /// Whether no request waits and none is under way.
    var isQuiet: Bool { waiting.isEmpty && idle.count + opening == open }

    /// Whether there is nothing at all to look after.
    var isEmpty: Bool { waiting.isEmpty && open == 0 }

    mutating func submit(_ sends: [HubSend]) { waiting.append(contentsOf: sends) }

    /// The next thing to do; to be called until `nil`.
    mutating func next() -> Action? {
        if waiting.isEmpty { return nil }
        if let connection = idle.popLast()?.connection, let send = waiting.popFirst() {
            return .send(send, connection)
        }
        guard open < limit, opening < waiting.count, !holdsBack else { return nil }
        open += 1
        opening += 1
        return .connect
    }

    mutating func connected(_ connection: Connection, now: NIODeadline) {
        opening -= 1
        idle.append(Idle(connection: connection, since: now))
    }

    /// A connection could not be opened.
    ///
    /// - Returns: the requests to fail: all that wait, when no other connection is there or on its way. The dispatcher
    ///   backs off; the next request tries again.
    mutating func connectFailed() -> [HubSend] {
        opening -= 1
        open -= 1
        holdsBack = open > 0
        return open == 0 ? takeWaiting() : []
    }

    /// Some time has passed since an attempt failed.
    mutating func mayConnectAgain() { holdsBack = false }

    /// A connection is free again.
    mutating func release(_ connection: Connection, now: NIODeadline) {
        idle.append(Idle(connection: connection, since: now))
    }

    /// A connection is gone, whether it was idle or in use.
    mutating func closed(_ connection: Connection) {
        open -= 1
        if let position = idle.lastIndex(where: { $0.connection === connection }) { idle.remove(at: position) }
    }

    mutating func takeWaiting() -> [HubSend] {
        defer { waiting.removeAll() }
        return Array(waiting)
    }

    /// The waiting requests whose time is up; they wait in the order of their deadlines.
    mutating func takeExpired(now: NIODeadline) -> [HubSend] {
        var expired: [HubSend] = []
        while let first = waiting.first, first.deadline <= now {
            expired.append(first)
            waiting.removeFirst()
        }
        return expired
    }

    /// The connections idle since that time or longer; each is to be closed, and then reported closed.
    mutating func takeIdle(since time: NIODeadline) -> [Connection] {
        let old = idle.prefix { $0.since <= time }.map(\.connection)
        idle.removeFirst(old.count)
        return old
    }
}
