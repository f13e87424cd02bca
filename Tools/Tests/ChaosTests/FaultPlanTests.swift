import ChaosChecker
import Foundation
import Testing

@Suite struct FaultPlanTests {
    private static func request(seed: UInt64) -> FaultPlan.Request {
        FaultPlan.Request(
            seed: seed, kills: [.rabbitmq: 10, .postgres: 10, .ingest: 10, .dispatcher: 50], wipes: 1, storms: 2,
            stops: 3, terms: 2, silences: 4, unbinds: 2, removals: 1, readOnlies: 2, unreads: 2,
            members: [.ingest: 2, .dispatcher: 4], stormSeconds: 60, stopSeconds: 60)
    }

    @Test(arguments: [0, 1, 7, UInt64.max])
    func `The same seed gives the same plan`(_ seed: UInt64) throws {
        let plan = FaultPlan(Self.request(seed: seed))
        #expect(plan == FaultPlan(Self.request(seed: seed)))
        #expect(plan != FaultPlan(Self.request(seed: seed ^ 12)))
        let kept = try JSONDecoder().decode(FaultPlan.self, from: JSONEncoder().encode(plan))
        #expect(kept == plan)
    }

    @Test func `The plan is the same on every machine`() {
        let request = FaultPlan.Request(
            seed: 42, kills: [.dispatcher: 2], storms: 1, members: [.dispatcher: 2], stormSeconds: 5)
        let lines = [
            "  at 10.58 %  kill dispatcher-1       undone after 0.7 s",
            "  at 50.09 %  kill dispatcher-2       undone after 0.5 s",
            "  at 51.90 %  storm hub-1             undone after 5.0 s",
        ]
        #expect(FaultPlan(request).lines == lines)
    }

    @Test func `Everything that is asked for is planned`() {
        let plan = FaultPlan(Self.request(seed: 3))
        #expect(plan.lane(.rabbitmq).count { $0.action == .kill } == 10)
        #expect(plan.lane(.rabbitmq).count { $0.action == .wipe } == 1)
        #expect(plan.lane(.rabbitmq).count { $0.action == .unbind } == 2)
        #expect(plan.lane(.rabbitmq).count { $0.action == .remove } == 1)
        #expect(plan.lane(.dispatcher).count { $0.action == .kill } == 50)
        #expect(plan.lane(.dispatcher).count { $0.action == .stop } == 3)
        #expect(plan.lane(.dispatcher).count { $0.action == .term } == 2)
        #expect(plan.lane(.dispatcher).count { $0.action == .silence } == 4)
        #expect(plan.lane(.hub).count == 2)
        #expect(plan.lane(.logs).map(\.pause) == [20_000, 20_000])
        #expect(plan.faults.count == 99)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `Faults of one target are spread over the run`(_ seed: UInt64) {
        let plan = FaultPlan(Self.request(seed: seed))
        for target in FaultPlan.Target.allCases {
            let lane = plan.lane(target)
            // Slots are 8600 / n wide, and each fault begins in the first two thirds of its own.
            for (earlier, later) in zip(lane, lane.dropFirst()) {
                #expect(later.progress - earlier.progress >= 8600 / lane.count / 3)
            }
            #expect(lane.allSatisfy { (600..<9200).contains($0.progress) && $0.pause > 0 })
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `No process is hit twice in a row where there is another`(_ seed: UInt64) {
        let lane = FaultPlan(Self.request(seed: seed)).lane(.dispatcher)
        #expect(zip(lane, lane.dropFirst()).allSatisfy { $0.member != $1.member })
        #expect(Set(lane.map(\.member)) == [1, 2, 3, 4])
    }

    /// A drain may last ten seconds: the hub must not begin to answer before.
    @Test func `The hub is silent for longer than a dispatcher may drain`() {
        let silences = FaultPlan(Self.request(seed: 9)).faults.filter { $0.action == .silence }
        #expect(silences.count == 4)
        #expect(silences.allSatisfy { $0.target == .dispatcher && $0.pause >= 12_000 })
    }

    @Test func `The database is read only for twenty seconds`() {
        let lane = FaultPlan(Self.request(seed: 9)).lane(.postgres)
        #expect(lane.count == 12)
        #expect(lane.filter { $0.action == .readOnly }.map(\.pause) == [20_000, 20_000])
    }

    @Test func `Data is deleted in the middle`() {
        let lane = FaultPlan(Self.request(seed: 5)).lane(.rabbitmq)
        #expect(lane.firstIndex { $0.action == .wipe } == 5)
    }
}
