import NIOCore
import Testing

@testable import PushServices

/// The pools of all origins as a value.
@Suite struct PushPoolsTests {
    private static let now = NIODeadline.uptimeNanoseconds(1)

    private func submit(_ pools: inout PushPools, _ host: String, at nanoseconds: UInt64) -> (String?, [Int]) {
        let (reception, closing) = pools.submit(.sample("/a", host: host), now: .uptimeNanoseconds(nanoseconds))
        guard case .refused(let reason) = reception else { return (nil, closing) }
        return (reason, closing)
    }

    /// A connection that has served what waited.
    private func serve(_ pools: inout PushPools, _ host: String, connection: Int, at nanoseconds: UInt64) {
        let now = NIODeadline.uptimeNanoseconds(nanoseconds)
        _ = pools.change(PushOrigin(host: host)) { pool in
            _ = pool.next(now: now)
            pool.connected(connection, room: 1, isMultiplexed: true, now: now)
            _ = pool.next(now: now)
            pool.ended(on: connection, now: now)
        }
    }

    @Test func `The idle origin that was used least recently gives way`() {
        var pools = PushPools(limit: 2, limits: .init(connections: 1, waiting: 1))
        #expect(submit(&pools, "a.test", at: 1) == (nil, []))
        serve(&pools, "a.test", connection: 1, at: 4)
        #expect(submit(&pools, "b.test", at: 2) == (nil, []))
        serve(&pools, "b.test", connection: 2, at: 3)
        #expect(submit(&pools, "c.test", at: 5) == (nil, [2]))
        // Its connection is still being closed, and takes no place.
        #expect(pools.origins.count == 3)
        #expect(submit(&pools, "d.test", at: 6) == (nil, [1]))
        #expect(submit(&pools, "e.test", at: 7) == ("too many origins are in use", []))
        #expect(submit(&pools, "d.test", at: 8) == ("too many requests wait", []))
    }

    @Test func `An origin with nothing left is forgotten`() {
        var pools = PushPools(limit: 2, limits: .init(connections: 1, waiting: 1))
        #expect(submit(&pools, "a.test", at: 1) == (nil, []))
        _ = pools.change(PushOrigin(host: "a.test")) { pool in
            _ = pool.next(now: Self.now)
            _ = pool.connectFailed(now: Self.now)
        }
        #expect(pools.isEmpty)
        #expect(pools.change(PushOrigin(host: "a.test")) { _ in true } == nil)
    }
}
