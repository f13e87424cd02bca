import Testing

@testable import AMQP

@Suite struct HeartbeatMonitorTests {
    @Test func theConnectionIsServedTwicePerHeartbeatAndDeadAfterTwo() {
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
}
