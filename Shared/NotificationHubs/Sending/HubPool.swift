import DequeModule
import Domain
import NIOCore
import Tracing

/// One send in flight: the notification, its deadline, and its callback. It is a class, because it passes through two
/// queues and a connection: one reference is cheaper to move than ten.
final class HubSend: Sendable {
    let notification: HubNotification
    let submitted: NIODeadline
    let deadline: NIODeadline
    /// `nil` if the request is not traced.
    let span: (any Tracing.Span)?
    let completion: @Sendable (SendOutcome) -> Void

    init(
        notification: HubNotification, submitted: NIODeadline, deadline: NIODeadline, span: (any Tracing.Span)? = nil,
        completion: @escaping @Sendable (SendOutcome) -> Void
    ) {
        self.notification = notification
        self.submitted = submitted
        self.deadline = deadline
        self.span = span
        self.completion = completion
    }
}

/// Decides which request goes over which connection: a value without I/O that returns actions.
///
/// A connection is opened when a request waits and no connection is idle, up to the limit. The connection that was used
/// last is used next, so that only as many stay warm as are needed, and the others become idle and are closed.
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
    /// The number of connections, including those that are being opened.
    private(set) var open = 0
    private(set) var opening = 0
    /// Set after a failed attempt while other connections serve: no connection is opened until the next tick.
    private var holdsBack = false

    init(limit: Int) { self.limit = limit }

    /// Whether no request waits and none is in flight.
    var isQuiet: Bool { waiting.isEmpty && idle.count + opening == open }

    /// Whether there are neither requests nor connections.
    var isEmpty: Bool { waiting.isEmpty && open == 0 }

    mutating func submit(_ sends: [HubSend]) { waiting.append(contentsOf: sends) }

    /// The next action; to be called until it returns `nil`.
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
    /// - Returns: the requests to fail: all that wait, if there is no other connection, open or being opened. The
    ///   dispatcher backs off; the next request tries again.
    mutating func connectFailed() -> [HubSend] {
        opening -= 1
        open -= 1
        holdsBack = open > 0
        return open == 0 ? takeWaiting() : []
    }

    /// Some time has passed since an attempt failed.
    mutating func mayConnectAgain() { holdsBack = false }

    mutating func release(_ connection: Connection, now: NIODeadline) {
        idle.append(Idle(connection: connection, since: now))
    }

    /// A connection is closed, whether it was idle or in use.
    mutating func closed(_ connection: Connection) {
        open -= 1
        if let position = idle.lastIndex(where: { $0.connection === connection }) { idle.remove(at: position) }
    }

    mutating func takeWaiting() -> [HubSend] {
        defer { waiting.removeAll() }
        return Array(waiting)
    }

    /// Removes the waiting requests whose deadline has passed; they wait in the order of their deadlines.
    mutating func takeExpired(now: NIODeadline) -> [HubSend] {
        var expired: [HubSend] = []
        while let first = waiting.first, first.deadline <= now {
            expired.append(first)
            waiting.removeFirst()
        }
        return expired
    }

    /// Removes the connections that have been idle since a time or longer. The caller closes each and then reports it
    /// closed.
    mutating func takeIdle(since time: NIODeadline) -> [Connection] {
        let old = idle.prefix { $0.since <= time }.map(\.connection)
        idle.removeFirst(old.count)
        return old
    }
}
