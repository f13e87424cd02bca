import NIOCore
import Testing

@testable import PushServices

/// The pool of an origin as a value: no network, no clock.
@Suite struct PushOriginPoolTests {
    private static func time(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(seconds) }

    private func pool(connections: Int = 2, waiting: Int = 10, checksAfterIdle: TimeAmount? = nil) -> PushOriginPool {
        PushOriginPool(
            limits: .init(connections: connections, waiting: waiting, checksAfterIdle: checksAfterIdle),
            now: Self.time(1))
    }

    /// What the pool wants done, as text: `connect`, `check 1`, or the path of what is sent and the connection.
    private func actions(_ pool: inout PushOriginPool, at seconds: Int64 = 1) -> [String] {
        var actions: [String] = []
        while let action = pool.next(now: Self.time(seconds)) {
            switch action {
            case .connect: actions.append("connect")
            case .check(let connection): actions.append("check \(connection)")
            case .start(let send, let connection): actions.append("\(send.request.path) \(connection)")
            }
        }
        return actions
    }

    private func submit(_ pool: inout PushOriginPool, _ paths: String...) {
        for path in paths {
            let isQueued = pool.submit(.sample(path), now: Self.time(1))
            #expect(isQueued)
        }
    }

    @Test func `One connection of HTTP/2 serves all up to its room`() {
        var pool = pool()
        #expect(actions(&pool) == [])
        submit(&pool, "/a", "/b", "/c")
        #expect(actions(&pool) == ["connect"])
        pool.connected(1, room: 2, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/a 1", "/b 1", "connect"])
        pool.ended(on: 1, now: Self.time(1))
        #expect(actions(&pool) == ["/c 1"])
    }

    @Test func `HTTP/1 gets a connection for each request up to the limit`() {
        var pool = pool()
        submit(&pool, "/a", "/b", "/c", "/d")
        #expect(actions(&pool) == ["connect"])
        pool.connected(1, room: 1, isMultiplexed: false, now: Self.time(1))
        #expect(actions(&pool) == ["/a 1", "connect"])
        pool.connected(2, room: 1, isMultiplexed: false, now: Self.time(1))
        #expect(actions(&pool) == ["/b 2"])
        pool.ended(on: 1, now: Self.time(1))
        #expect(actions(&pool) == ["/c 1"])
    }

    @Test func `Room that shrinks below what is in flight is obeyed`() {
        var pool = pool(connections: 1)
        submit(&pool, "/a", "/b", "/c", "/d")
        _ = actions(&pool)
        pool.connected(1, room: 3, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/a 1", "/b 1", "/c 1"])
        pool.roomChanged(of: 1, to: 1)
        pool.ended(on: 1, now: Self.time(1))
        pool.ended(on: 1, now: Self.time(1))
        #expect(actions(&pool) == [])
        pool.ended(on: 1, now: Self.time(1))
        #expect(actions(&pool) == ["/d 1"])
        pool.roomChanged(of: 1, to: 0)
        pool.ended(on: 1, now: Self.time(1))
        submit(&pool, "/e")
        #expect(actions(&pool) == [])
    }

    @Test func `What was idle is checked before it is used`() {
        var pool = pool(checksAfterIdle: .seconds(60))
        submit(&pool, "/a")
        _ = actions(&pool)
        pool.connected(1, room: 9, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/a 1"])
        pool.ended(on: 1, now: Self.time(2))
        submit(&pool, "/b")
        #expect(actions(&pool, at: 62) == ["/b 1"])
        pool.ended(on: 1, now: Self.time(62))
        submit(&pool, "/c")
        // No other connection while the check runs.
        #expect(actions(&pool, at: 123) == ["check 1"])
        pool.checked(1)
        #expect(actions(&pool, at: 300) == ["/c 1"])
    }

    @Test func `A check that fails leads to another connection`() {
        var pool = pool(connections: 1, checksAfterIdle: .seconds(60))
        submit(&pool, "/a")
        _ = actions(&pool)
        pool.connected(1, room: 9, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool, at: 100) == ["check 1"])
        #expect(pool.left(1, wasUseful: true, now: Self.time(105)).isEmpty)
        #expect(actions(&pool, at: 105) == ["connect"])
    }

    @Test func `A request that was not processed avoids its connection`() {
        var pool = pool()
        submit(&pool, "/a")
        _ = actions(&pool)
        pool.connected(1, room: 9, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/a 1"])
        pool.ended(on: 1, now: Self.time(1))
        pool.submitAgain(.sample("/a"), avoiding: 1)
        submit(&pool, "/b")
        // The others do not wait for it.
        #expect(actions(&pool) == ["/b 1", "connect"])
        pool.connected(2, room: 9, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/a 2"])
    }

    @Test func `Without another connection it takes the same`() {
        var pool = pool(connections: 1)
        submit(&pool, "/a")
        _ = actions(&pool)
        pool.connected(1, room: 9, isMultiplexed: true, now: Self.time(1))
        _ = actions(&pool)
        pool.ended(on: 1, now: Self.time(1))
        pool.submitAgain(.sample("/a"), avoiding: 1)
        #expect(actions(&pool) == ["/a 1"])
    }

    @Test func `A connection that leaves makes room for another at once`() {
        var pool = pool(connections: 1)
        submit(&pool, "/a", "/b")
        _ = actions(&pool)
        pool.connected(1, room: 1, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/a 1"])
        #expect(pool.left(1, wasUseful: true, now: Self.time(1)).isEmpty)
        #expect(actions(&pool) == ["connect"])
        pool.connected(2, room: 1, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/b 2"])
        #expect(!pool.isEmpty)
        pool.closed(1)
        pool.ended(on: 2, now: Self.time(1))
        #expect(pool.takeIdle(since: Self.time(1)) == [2])
        pool.closed(2)
        #expect(pool.isEmpty)
    }

    @Test func `What waits fails only when nothing else could serve it`() {
        var pool = pool()
        submit(&pool, "/a", "/b")
        #expect(actions(&pool) == ["connect"])
        #expect(pool.connectFailed(now: Self.time(1)).map(\.request.path) == ["/a", "/b"])
        #expect(pool.isEmpty)
        submit(&pool, "/c", "/d")
        #expect(actions(&pool) == ["connect"])
        pool.connected(1, room: 1, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["/c 1", "connect"])
        #expect(pool.connectFailed(now: Self.time(1)).isEmpty)
        // A pause, because another connection serves.
        #expect(actions(&pool) == [])
        #expect(actions(&pool, at: 3) == ["connect"])
    }

    @Test func `A server that closes every connection is not asked again and again`() {
        var pool = pool()
        submit(&pool, "/a")
        _ = actions(&pool)
        pool.connected(1, room: 0, isMultiplexed: true, now: Self.time(1))
        #expect(actions(&pool) == ["connect"])
        #expect(pool.left(1, wasUseful: false, now: Self.time(1)).isEmpty)
        #expect(pool.connectFailed(now: Self.time(1)).count == 1)
    }

    @Test func `Few requests wait, and can be taken out`() {
        var pool = pool(waiting: 2)
        let first = PushSend.sample("/a", number: 1)
        var taken = [first, .sample("/b"), .sample("/c")].map { pool.submit($0, now: Self.time(1)) }
        #expect(taken == [true, true, false])
        taken = [pool.remove(1), pool.remove(1)]
        pool.submitAgain(first, avoiding: 7)
        taken += [pool.remove(1), pool.remove(1)]
        #expect(taken == [true, false, true, false])
        #expect(pool.takeWaiting().count == 1)
    }
}

extension PushSend {
    static func sample(_ path: String, number: UInt64 = 0, host: String = pushHost) -> PushSend {
        PushSend(
            number: number,
            request: PushHTTPRequest(origin: PushOrigin(host: host), path: path, headers: [], body: []),
            deadline: .distantFuture)
    }
}
