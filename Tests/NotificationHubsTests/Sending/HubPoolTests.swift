import Domain
import NIOCore
import Testing

@testable import NotificationHubs

/// The pool as a value: no network, no clock.
@Suite struct HubPoolTests {
    private final class Connection {}

    private static func time(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    private func sends(_ tags: String...) -> [HubSend] {
        tags.map { tag in
            var notification = HubNotification.sample
            notification.tag = tag
            return HubSend(
                notification: notification, submitted: Self.time(0), deadline: Self.time(10), completion: { _ in })
        }
    }

    /// What the pool wants done, as text: `connect`, or the tag of what is sent.
    private func actions(_ pool: inout HubPool<Connection>) -> [String] {
        var actions: [String] = []
        while let action = pool.next() {
            switch action {
            case .connect: actions.append("connect")
            case .send(let send, _): actions.append(send.notification.tag)
            }
        }
        return actions
    }

    @Test func `Opens one connection a request up to its limit`() {
        var pool = HubPool<Connection>(limit: 2)
        #expect(actions(&pool) == [])
        pool.submit(sends("a"))
        #expect(actions(&pool) == ["connect"])
        pool.submit(sends("b", "c"))
        #expect(actions(&pool) == ["connect"])
        pool.connected(Connection(), now: Self.time(0))
        #expect(actions(&pool) == ["a"])
        let second = Connection()
        pool.connected(second, now: Self.time(0))
        #expect(actions(&pool) == ["b"])
        pool.release(second, now: Self.time(1))
        #expect(actions(&pool) == ["c"])
        #expect(pool.open == 2)
    }

    @Test func `Uses the last used and lets the others grow old`() {
        var pool = HubPool<Connection>(limit: 2)
        let (old, young) = (Connection(), Connection())
        pool.submit(sends("a", "b"))
        #expect(actions(&pool) == ["connect", "connect"])
        pool.connected(old, now: Self.time(1))
        pool.connected(young, now: Self.time(2))
        #expect(pool.takeExpired(now: Self.time(10)).count == 2)
        #expect(pool.takeIdle(since: Self.time(1)).map { $0 === old } == [true])
        pool.closed(old)
        #expect(pool.open == 1)
        #expect(pool.isQuiet)
        pool.closed(young)
        #expect(pool.isEmpty)
    }

    @Test func `Fails what waits only when nothing else could serve it`() {
        var pool = HubPool<Connection>(limit: 3)
        pool.submit(sends("a", "b"))
        #expect(actions(&pool) == ["connect", "connect"])
        #expect(pool.connectFailed().isEmpty)
        #expect(pool.connectFailed().map(\.notification.tag) == ["a", "b"])
        pool.submit(sends("c"))
        #expect(actions(&pool) == ["connect"])
    }

    @Test func `Waits before it connects again while another connection serves`() {
        var pool = HubPool<Connection>(limit: 2)
        pool.submit(sends("a", "b", "c"))
        #expect(actions(&pool) == ["connect", "connect"])
        pool.connected(Connection(), now: Self.time(0))
        #expect(actions(&pool) == ["a"])
        #expect(pool.connectFailed().isEmpty)
        #expect(actions(&pool) == [])
        pool.mayConnectAgain()
        #expect(actions(&pool) == ["connect"])
    }

    @Test func `What waits expires in order`() {
        var pool = HubPool<Connection>(limit: 1)
        pool.submit(sends("a", "b"))
        #expect(pool.takeExpired(now: Self.time(9)).isEmpty)
        #expect(pool.takeExpired(now: Self.time(10)).map(\.notification.tag) == ["a", "b"])
        #expect(pool.isEmpty)
    }
}
