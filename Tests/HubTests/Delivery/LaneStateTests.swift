import Foundations
import HTTPTypes
import PushServices
import StackKit
import Storage
import Testing

@testable import Hub

/// Pauses, probes, dead devices and the guard of removals (K4).
@Suite struct LaneStateTests {
    @Test func `Refused credentials pause the platform, which one push every 30 s probes`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.credentialRefused))
            #expect(try await bench.send(bench.push("a")) == [.unknown])
            #expect(bench.report?.state == .paused && bench.report?.problem != nil)
            // The others wait as retries, and are not tried.
            for number in 0..<3 { _ = try await bench.send(bench.push("b\(number)", message: "n\(number)")) }
            #expect(bench.connector.handles == ["a"])
            #expect(try await bench.stored() == 4)
            try await bench.sweep(after: .seconds(29))
            #expect(bench.connector.handles.count == 1)
            try await bench.sweep(after: .seconds(2))
            #expect(bench.connector.handles.count == 2 && bench.report?.state == .paused)
            bench.connector.answerAll(.answer(.accepted))
            try await bench.sweep(after: .seconds(31))
            #expect(bench.report?.state == .open && bench.report?.problem == nil)
            for _ in 0..<5 { try await bench.sweep(after: .seconds(31)) }
            #expect(try await bench.stored() == 0)
            #expect(Set(bench.connector.handles) == ["a", "b0", "b1", "b2"])
        }
    }

    @Test func `Other credentials end a pause, and the former connector is closed`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.credentialRefused))
            try await bench.send(bench.push("a"))
            #expect(bench.report?.state == .paused)
            let better = ScriptedConnector()
            bench.delivery.lanes.use(DeliveryBench.pushers(better, version: 2))
            #expect(bench.report?.state == .open)
            #expect(try await bench.send(bench.push("b", message: "n")) == [.success])
            #expect(better.handles == ["b"])
            try await expectToHold { bench.connector.isClosed }
            #expect(!better.isClosed)
        }
    }

    @Test func `A platform that throttles all is left alone, and its sends are refused`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.throttled(after: .seconds(20))))
            for number in 0..<PushCircuit.maxFailures {
                _ = try? await bench.send(bench.push("a\(number)"))
            }
            #expect(bench.report?.state == .held && bench.report?.problem == nil)
            let refused = await #expect(throws: HubError.self) { try await bench.send(bench.push("b")) }
            #expect(refused?.status == .tooManyRequests)
            #expect(!bench.connector.handles.contains("b"))
            bench.connector.answerAll(.answer(.accepted))
            bench.clock.advance(by: .seconds(21))
            let result = try await bench.send(bench.push("c"))
            #expect(result == [.success])
            #expect(bench.report?.state == .open)
        }
    }

    @Test func `A device that gets too many pushes holds nothing of the others, and its send is stored`() async throws {
        try await withDelivery { bench in
            for number in 0..<2 * PushCircuit.maxFailures {
                bench.connector.plan("a\(number)", .answer(.deviceThrottled(after: nil)))
                #expect(try await bench.send(bench.push("a\(number)")) == [.unknown])
            }
            #expect(bench.report?.state == .open)
            #expect(try await bench.send(bench.push("b", message: "n")) == [.success])
            try await bench.sweep(after: .seconds(9))
            #expect(bench.connector.handles.count == 2 * PushCircuit.maxFailures + 1)
            try await bench.sweep(after: .seconds(2))
            #expect(try await bench.stored() == 0)
            #expect(try await bench.outcomes() == ["Success": 2 * PushCircuit.maxFailures])
        }
    }

    @Test func `One browser push service in trouble holds nothing of the others`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.unreachable))
            for number in 0..<30 { _ = try? await bench.send(bench.push("https://m/\(number)", .browser)) }
            #expect(bench.report?.state == .open)
            bench.connector.plan("https://a/1", .answer(.accepted))
            let result = try await bench.send(bench.push("https://a/1", .browser))
            #expect(result == [.success])
        }
    }

    @Test func `A browser push service that does not answer is left alone, and only that one`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.failed(after: nil)))
            for number in 0..<PushCircuit.maxFailures {
                try await bench.send(bench.push("https://m/\(number)", .browser, message: "n\(number)"))
            }
            let tries = bench.connector.handles.count
            let held = await #expect(throws: HubError.self) {
                try await bench.send(bench.push("https://M/x", .browser))
            }
            #expect(held?.status == .serviceUnavailable)
            #expect(bench.connector.handles.count == tries)
            bench.connector.answerAll(.answer(.accepted))
            #expect(try await bench.send(bench.push("https://a/1", .browser)) == [.success])
        }
    }

    @Test func `Subscriptions with another key pause nobody, however many they are`() async throws {
        try await withDelivery { bench in
            try await bench.send(bench.push("https://m/good", .browser, message: "first"))
            for round in 0..<3 {
                for number in 0..<(PushCircuit.minRefusedDevices - 1) {
                    bench.connector.plan("https://m/bad\(number)", .answer(.credentialRefused))
                    let push = bench.push("https://m/bad\(number)", .browser, message: "n\(round)-\(number)")
                    #expect(try await bench.send(push) == [.unknown])
                }
                #expect(bench.report?.state == .open)
                bench.clock.advance(by: .seconds(31))
                let good = bench.push("https://m/good", .browser, message: "good\(round)")
                #expect(try await bench.send(good) == [.success])
            }
        }
    }

    @Test func `Refused credentials pause one browser push service, which another device probes`() async throws {
        try await withDelivery { bench in
            // Nothing was accepted with these credentials yet.
            bench.connector.plan("https://m/bad", .answer(.credentialRefused), .answer(.credentialRefused))
            try await bench.send(bench.push("https://m/bad", .browser))
            #expect(bench.report?.state == .paused && bench.report?.problem != nil)
            #expect(try await bench.send(bench.push("https://a/1", .browser, message: "n1")) == [.success])
            #expect(try await bench.send(bench.push("https://m/1", .browser, message: "n2")) == [.unknown])
            #expect(bench.connector.handles == ["https://m/bad", "https://a/1"])
            bench.clock.advance(by: .seconds(31))
            // It was refused, so it is no probe.
            #expect(try await bench.send(bench.push("https://m/bad", .browser, message: "n3")) == [.unknown])
            #expect(bench.connector.handles.count == 2)
            #expect(try await bench.send(bench.push("https://m/2", .browser, message: "n4")) == [.success])
            #expect(bench.report?.state == .open)
        }
    }

    /// A channel takes tokens of one of Microsoft's two token services. That the other one's are refused says nothing of
    /// other channels.
    @Test func `Channels of the other token service do not pause WNS`() async throws {
        try await withDelivery { bench in
            try await bench.send(bench.push("good", .windows))
            for number in 0..<60 {
                let foreign = bench.push("foreign\(number)", .windows, message: "f\(number)")
                bench.connector.plan(foreign.handle, .answer(.channelRefused))
                #expect(try await bench.send(foreign) == [.unknown])
                #expect(try await bench.send(bench.push("good", .windows, message: "g\(number)")) == [.success])
            }
            #expect(bench.report?.state == .open && bench.report?.areRemovalsSuspended == false)
            #expect(try await bench.stored(.windows) == 60)
            // The token service has refused the credentials: that is for all.
            bench.connector.plan("bad", .answer(.credentialRefused))
            #expect(try await bench.send(bench.push("bad", .windows, message: "b")) == [.unknown])
            #expect(bench.report?.state == .paused)
        }
    }

    @Test func `A device that was refused probes if no other one comes`() {
        let start = ContinuousClock.now
        var circuit = PushCircuit(areDevicesBound: true)
        circuit.observe(.credentialRefused, of: 1, isProbe: false, now: start)
        func admission(_ device: Int, after seconds: Int) -> Bool {
            if case .probe = circuit.admit(device, now: start + .seconds(seconds)) { true } else { false }
        }
        #expect(!admission(1, after: 30) && !admission(1, after: 59))
        #expect(admission(1, after: 60))
        circuit.observe(.credentialRefused, of: 1, isProbe: true, now: start + .seconds(60))
        #expect(!admission(2, after: 89) && admission(2, after: 90))
        circuit.observe(.accepted, of: 2, isProbe: true, now: start + .seconds(90))
        #expect(circuit.pause == nil)
        // Enough others, long after the acceptance, are evidence.
        for device in 0..<PushCircuit.minRefusedDevices {
            #expect(circuit.pause == nil)
            circuit.observe(.credentialRefused, of: device, isProbe: false, now: start + .seconds(130))
        }
        #expect(circuit.pause != nil)
    }

    @Test func `Origins are bounded, and those in trouble are kept`() {
        let now = ContinuousClock.now
        func address(_ host: Int) -> PushAddress {
            .subscription(endpoint: "https://\(host)/x", p256dh: "p", auth: "a")
        }
        var circuits = LaneCircuits(isShared: true)
        circuits.observe(.credentialRefused, of: address(0), isProbe: false, now: now)
        #expect(circuits.state == .paused)
        for host in 1...(2 * LaneCircuits.maxOrigins) {
            circuits.observe(.accepted, of: address(host), isProbe: false, now: now)
        }
        #expect(circuits.state == .paused && circuits.admit(address(0), now: now) != .push)
        #expect(circuits.admit(address(1), now: now) == .push)
    }

    @Test func `A device that is gone is removed, unless it was written since`() async throws {
        try await withDelivery { bench in
            let now = bench.clock.clock.now()
            for (id, time) in [("old", now - .seconds(60)), ("new", now), ("late", now - .seconds(5))] {
                let row = HubRegistrationRow(
                    id: id, format: "apple", isTemplate: false, tags: [], handle: id.uppercased(), updatedAt: time,
                    document: [])
                _ = try await bench.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            }
            bench.connector.plan("OLD", .answer(.gone(since: nil)))
            bench.connector.plan("NEW", .answer(.gone(since: nil)))
            bench.connector.plan("LATE", .answer(.gone(since: now - .seconds(10))))
            let pushes = ["OLD", "NEW", "LATE"].map { bench.push($0, registration: $0.lowercased()) }
            #expect(try await bench.send(pushes) == Array(repeating: .expiredChannel, count: 3))
            await bench.delivery.graves.waitUntilWritten()
            let left = try await bench.tables.registrations(handles: ["OLD", "NEW", "LATE"], hub: DeliveryBench.hub)
            #expect(left.map(\.id).sorted() == ["late", "new"])
            let feedback = try await bench.tables.feedback(hub: DeliveryBench.hub)
            #expect(feedback.map(\.registrationID) == ["old"] && feedback.map(\.error) == ["ExpiredChannel"])
        }
    }

    @Test func `A host that is no longer allowed does not erase its devices`() async throws {
        try await withDelivery { bench in
            let row = HubRegistrationRow(
                id: "r", format: "apple", isTemplate: false, tags: [], handle: "H",
                updatedAt: bench.clock.clock.now() - .seconds(60), document: [])
            _ = try await bench.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            bench.connector.answerAll(.answer(.notAllowed))
            for number in 0..<60 {
                #expect(try await bench.send(bench.push("H", message: "m\(number)")) == [.badChannel])
            }
            await bench.delivery.graves.waitUntilWritten()
            #expect(try await bench.tables.registrations(handles: ["H"], hub: DeliveryBench.hub).count == 1)
            #expect(try await bench.tables.feedback(hub: DeliveryBench.hub).isEmpty)
            #expect(bench.report?.areRemovalsSuspended == false)
        }
    }

    @Test func `A wrong environment does not erase the devices`() async throws {
        try await withDelivery { bench in
            for number in 0..<200 {
                let row = HubRegistrationRow(
                    id: "r\(number)", format: "apple", isTemplate: false, tags: [], handle: "H\(number)",
                    updatedAt: bench.clock.clock.now() - .seconds(60), document: [])
                _ = try await bench.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            }
            for number in 0..<60 { try await bench.send(bench.push("H\(number)", message: "m\(number)")) }
            bench.connector.answerAll(.answer(.wrongAddress))
            for number in 60..<200 {
                #expect(try await bench.send(bench.push("H\(number)", message: "m\(number)")) == [.badChannel])
            }
            await bench.delivery.graves.waitUntilWritten()
            #expect(bench.report?.areRemovalsSuspended == true && bench.report?.problem != nil)
            let feedback = try await bench.tables.feedback(hub: DeliveryBench.hub)
            // 15 of 75 are 20 %: the next one is more.
            #expect(feedback.count == 15)
            bench.delivery.lanes.use(DeliveryBench.pushers(bench.connector, version: 2))
            #expect(bench.report?.areRemovalsSuspended == false)
        }
    }

    /// Their environment may have been the wrong one.
    @Test func `An answer to former credentials removes no device with a wrong address`() async throws {
        try await withDelivery { bench in
            for handle in ["OLD", "NEW"] {
                let row = HubRegistrationRow(
                    id: handle.lowercased(), format: "apple", isTemplate: false, tags: [], handle: handle,
                    updatedAt: bench.clock.clock.now() - .seconds(60), document: [])
                _ = try await bench.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            }
            bench.connector.plan("OLD", .silence)
            async let outcomes = bench.send(bench.push("OLD"))
            try await expectToHold { bench.connector.silentCount == 1 }
            bench.delivery.lanes.use(DeliveryBench.pushers(bench.connector, version: 2))
            bench.connector.end("OLD", .wrongAddress)
            #expect(try await outcomes == [.badChannel])
            bench.connector.plan("NEW", .answer(.wrongAddress))
            #expect(try await bench.send(bench.push("NEW", message: "n")) == [.badChannel])
            await bench.delivery.graves.waitUntilWritten()
            let left = try await bench.tables.registrations(handles: ["OLD", "NEW"], hub: DeliveryBench.hub)
            #expect(left.map(\.handle) == ["OLD"])
        }
    }

    @Test func `What one process decides about removals holds for others, and after a restart`() async throws {
        try await withTables { store in
            let clock = StandingClock()
            let first = DeliveryBench(store.tables, clock: clock)
            for number in 0..<60 {
                let row = HubRegistrationRow(
                    id: "r\(number)", format: "apple", isTemplate: false, tags: [], handle: "H\(number)",
                    updatedAt: clock.clock.now() - .seconds(60), document: [])
                _ = try await store.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            }
            func left() async throws -> Int {
                let handles = (0..<60).map { "H\($0)" }
                return try await store.tables.registrations(handles: handles, hub: DeliveryBench.hub).count
            }
            first.connector.answerAll(.answer(.wrongAddress))
            for number in 0..<RemovalGuard.minAnswers {
                try await first.send(first.push("H\(number)", message: "m\(number)"))
            }
            await first.delivery.graves.waitUntilWritten()
            #expect(first.report?.areRemovalsSuspended == true)
            let kept = try await left()
            #expect(kept == 60 - (RemovalGuard.minAnswers - 1))
            // Another process, or this one after a restart, which has counted nothing yet.
            let next = DeliveryBench(store.tables, clock: clock)
            next.connector.answerAll(.answer(.wrongAddress))
            for number in 50..<60 { try await next.send(next.push("H\(number)", message: "n\(number)")) }
            await next.delivery.graves.waitUntilWritten()
            #expect(try await left() == kept)
            #expect(next.report?.areRemovalsSuspended == true && next.report?.problem != nil)
            // One that has no such answer shows it as well.
            let idle = DeliveryBench(store.tables, clock: clock)
            try await idle.sweep()
            #expect(idle.report?.areRemovalsSuspended == true)
            // When the share is small again, all go on.
            next.connector.answerAll(.answer(.accepted))
            for number in 0..<200 { try await next.send(next.push("G\(number)", message: "o\(number)")) }
            await next.delivery.graves.waitUntilWritten()
            #expect(next.report?.areRemovalsSuspended == false)
            try await idle.sweep(after: .seconds(11))
            #expect(idle.report?.areRemovalsSuspended == false)
            next.connector.answerAll(.answer(.wrongAddress))
            try await next.send(next.push("H59", message: "p"))
            await next.delivery.graves.waitUntilWritten()
            #expect(try await left() == kept - 1)
        }
    }

    @Test func `Other credentials end the suspension for all processes`() async throws {
        try await withDelivery { bench in
            bench.connector.answerAll(.answer(.wrongAddress))
            for number in 0..<RemovalGuard.minAnswers { try await bench.send(bench.push("H", message: "m\(number)")) }
            await bench.delivery.graves.waitUntilWritten()
            let suspended = try await bench.tables.suspendedLanes()
            #expect(suspended == [HubLaneKey(hub: DeliveryBench.hub, platform: "apple")])
            bench.delivery.lanes.use(DeliveryBench.pushers(bench.connector, version: 2))
            bench.delivery.graves.put([.look])
            await bench.delivery.graves.waitUntilWritten()
            #expect(bench.report?.areRemovalsSuspended == false)
            bench.connector.answerAll(.answer(.accepted))
            try await bench.send(bench.push("H", message: "n"))
            await bench.delivery.graves.waitUntilWritten()
            #expect(try await bench.tables.suspendedLanes().isEmpty)
        }
    }

    @Test func `A probe decides, and a failed one waits longer`() {
        let start = ContinuousClock.now
        var circuit = PushCircuit()
        for _ in 0..<PushCircuit.maxFailures { circuit.observe(.failed(after: nil), of: 0, isProbe: false, now: start) }
        func admission(after time: Duration) -> PushCircuit.Admission { circuit.admit(0, now: start + time) }
        let pause = PushCircuit.Pause(cause: .unreachable, until: start + .seconds(1), interval: .seconds(1))
        #expect(admission(after: .zero) == .held(pause))
        #expect(admission(after: .seconds(1)) == .probe)
        #expect(admission(after: .seconds(1)) == .held(pause))
        circuit.observe(.failed(after: nil), of: 0, isProbe: true, now: start + .seconds(2))
        #expect(circuit.pause?.until == start + .seconds(4))
        // The answer to a push from before the pause is no probe.
        circuit.observe(.accepted, of: 0, isProbe: false, now: start + .seconds(3))
        #expect(circuit.pause != nil)
        #expect(admission(after: .seconds(4)) == .probe)
        circuit.observe(.tooLarge, of: 0, isProbe: true, now: start + .seconds(5))
        #expect(circuit.pause == nil)
        #expect(admission(after: .seconds(5)) == .push)
    }
}
