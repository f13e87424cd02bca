import Foundations
import PushServices
import Storage
import Testing

@testable import Hub

/// Decisions about the removal of devices with wrong addresses, here and in other processes.
@Suite struct RemovalGuardTests {
    /// - Returns: whether any of some answers has led to a decision.
    private func note(_ isWrong: Bool, _ count: Int, _ guardian: inout RemovalGuard) -> Bool {
        var hasTurned = false
        for _ in 0..<count where guardian.note(isWrong: isWrong) != nil { hasTurned = true }
        return hasTurned
    }

    /// - Returns: whether that has changed something.
    private func follow(_ isSuspended: Bool, after number: Int, _ guardian: inout RemovalGuard) -> Bool {
        guardian.follow(isSuspended, after: number)
    }

    @Test func `The guard counts the last thousand answers`() {
        var guardian = RemovalGuard()
        #expect(!note(true, 49, &guardian))
        #expect(note(true, 1, &guardian))
        #expect(guardian.isSuspended)
        // 50 wrong ones are 5 % of 1,000, and less when one of them is too old.
        #expect(!note(false, 950, &guardian))
        #expect(guardian.isSuspended)
        #expect(note(false, 1, &guardian))
        #expect(!guardian.isSuspended)
        #expect(!note(true, 151, &guardian))
        #expect(note(true, 60, &guardian))
        #expect(guardian.isSuspended)
    }

    @Test func `What the store said before a decision does not count`() {
        var former = RemovalGuard()
        #expect(follow(true, after: 0, &former) && former.isSuspended)
        // Other credentials: the first answer resumes.
        var guardian = RemovalGuard(after: former)
        let number = guardian.decisions
        #expect(note(true, 1, &guardian) && guardian.unwritten == .resumed)
        // It was read before the decision,
        #expect(!follow(true, after: number, &guardian) && !guardian.isSuspended)
        // or before it was written.
        #expect(!follow(true, after: guardian.decisions, &guardian) && !guardian.isSuspended)
        guardian.noteWritten(guardian.decisions)
        #expect(guardian.unwritten == nil)
        #expect(!follow(true, after: number, &guardian) && !guardian.isSuspended)
        // From now on it is the word of another process.
        #expect(follow(true, after: guardian.decisions, &guardian) && guardian.isSuspended)
    }

    @Test func `A decision counts until it is written, also under other credentials`() {
        var guardian = RemovalGuard()
        #expect(note(true, RemovalGuard.minAnswers, &guardian) && guardian.unwritten == .suspended)
        let first = guardian.decisions
        guardian = RemovalGuard(after: guardian)
        #expect(guardian.unwritten == .suspended && !guardian.isSuspended)
        #expect(note(false, 1, &guardian) && guardian.unwritten == .resumed)
        guardian.noteWritten(first)
        #expect(guardian.unwritten == .resumed)
        guardian.noteWritten(guardian.decisions)
        #expect(guardian.unwritten == nil)
    }

    @Test func `A suspension that is read after another process lifted it ends with the next look`() {
        var guardian = RemovalGuard()
        #expect(follow(true, after: 0, &guardian))
        #expect(follow(false, after: 0, &guardian))
        #expect(!guardian.isSuspended)
        // What this process has found itself, another one does not lift.
        #expect(note(true, RemovalGuard.minAnswers, &guardian))
        guardian.noteWritten(guardian.decisions)
        #expect(!follow(false, after: guardian.decisions, &guardian) && guardian.isSuspended)
    }

    @Test func `A suspension is for the removals that come after it`() async throws {
        try await withDelivery { bench in
            let row = HubRegistrationRow(
                id: "r", format: "apple", isTemplate: false, tags: [], handle: "H",
                updatedAt: bench.clock.clock.now() - .seconds(60), document: [])
            _ = try await bench.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            let lane = bench.delivery.lanes.lane(DeliveryBench.hub, .apple)
            bench.connector.answerAll(.answer(.wrongAddress))
            for _ in 0..<RemovalGuard.minAnswers { _ = await lane.push(bench.push("G").request) }
            #expect(lane.decisions.unwritten == .suspended)
            let dead = DeadDevice(bench.push("H"), .badChannel, before: bench.clock.clock.now())
            bench.delivery.graves.put([.wrong(dead), .decided(lane.key), .wrong(dead)])
            await bench.delivery.graves.waitUntilWritten()
            #expect(try await bench.tables.registrations(handles: ["H"], hub: DeliveryBench.hub).isEmpty)
            #expect(try await bench.tables.suspendedLanes() == [lane.key])
        }
    }

    @Test func `A removal counts on a decision that is written later`() async throws {
        try await withDelivery { bench in
            let row = HubRegistrationRow(
                id: "r", format: "apple", isTemplate: false, tags: [], handle: "H",
                updatedAt: bench.clock.clock.now() - .seconds(60), document: [])
            _ = try await bench.tables.put(row, hub: DeliveryBench.hub, condition: .none)
            let lane = bench.delivery.lanes.lane(DeliveryBench.hub, .apple)
            try await bench.tables.suspendRemovals(of: lane.key, now: bench.clock.clock.now())
            bench.delivery.graves.put([.look])
            await bench.delivery.graves.waitUntilWritten()
            #expect(lane.report.areRemovalsSuspended)
            bench.delivery.lanes.use(DeliveryBench.pushers(bench.connector, version: 2))
            // Its answer resumes the removals. Nobody has put that into the queue yet.
            _ = await lane.push(bench.push("G").request)
            #expect(lane.decisions.unwritten == .resumed)
            let dead = DeadDevice(bench.push("H"), .badChannel, before: bench.clock.clock.now())
            bench.delivery.graves.put([.wrong(dead), .look])
            await bench.delivery.graves.waitUntilWritten()
            #expect(try await bench.tables.registrations(handles: ["H"], hub: DeliveryBench.hub).isEmpty)
            #expect(!lane.report.areRemovalsSuspended && lane.decisions.unwritten == nil)
            #expect(try await bench.tables.suspendedLanes().isEmpty)
        }
    }
}
