import Testing

@testable import AMQP

@Suite struct HeartbeatMonitorTests {
    @Test func `The connection is served twice per heartbeat and dead after two`() {
        let start = ContinuousClock.now
        var monitor = HeartbeatMonitor(heartbeat: .seconds(10), now: start)
        #expect(monitor.deadline == start + .seconds(5))
        let checks = [4, 5, 6].map { monitor.isDue(start + .seconds($0)) }
        #expect(checks == [false, true, false])
        #expect(monitor.deadline == start + .seconds(10))
        monitor.heard(start + .seconds(6))
        #expect(!monitor.isDead(start + .seconds(25)))
        #expect(monitor.isDead(start + .seconds(26)))
    }

    /// The replies to calls that follow each other are signs of life: the heartbeats are read together with them.
    @Test func `A broker that answers is not dead`() async throws {
        try await withQueue { queue, topology in
            var configuration = try brokerConfiguration()
            configuration.heartbeat = .seconds(1)
            try await AMQPConnection.with(configuration) { connection in
                try await connection.declare(topology)
                let end = ContinuousClock.now + .seconds(6)
                while ContinuousClock.now < end { #expect(try await connection.get(queue: queue) == nil) }
                #expect(await connection.isOpen)
            }
        }
    }
}
