import Foundation
import Testing

@testable import Hub

@Suite struct FaultTableTests {
    private func hits(_ table: FaultTable, at times: [Int64]) -> [Bool] {
        times.map { table.effect(on: .send, platform: .apple, nowMilliseconds: $0).fault != nil }
    }

    @Test func `A fault begins and ends`() {
        let table = FaultTable()
        var fault = Fault()
        fault.answer = .status(500)
        fault.startMilliseconds = 100
        fault.durationMilliseconds = 50
        table.add(fault, nowMilliseconds: 1000)
        #expect(hits(table, at: [1000, 1099, 1100, 1149, 1150]) == [false, false, true, true, false])
    }

    @Test func `A seed gives the same run again`() {
        func run(seed: UInt64?, defaultSeed: UInt64?) -> [Bool] {
            let table = FaultTable(defaultSeed: defaultSeed)
            var fault = Fault()
            fault.answer = .reset
            fault.rate = 0.5
            fault.seed = seed
            table.add(fault, nowMilliseconds: 0)
            return hits(table, at: Array(repeating: 1, count: 200))
        }
        #expect(run(seed: 7, defaultSeed: nil) == run(seed: 7, defaultSeed: 1))
        #expect(run(seed: nil, defaultSeed: 7) == run(seed: 7, defaultSeed: nil))
        #expect(run(seed: 8, defaultSeed: nil) != run(seed: 7, defaultSeed: nil))
        #expect((60...140).contains(run(seed: 7, defaultSeed: nil).count { $0 }))
    }

    @Test(arguments: ThrottleTier.allCases) func `A tier takes its sends a minute`(_ tier: ThrottleTier) {
        let table = FaultTable()
        var fault = Fault()
        fault.tier = tier
        fault.answer = .status(429)
        table.add(fault, nowMilliseconds: 0)
        for _ in 0..<tier.sendsPerMinute {
            #expect(table.effect(on: .batch, platform: .apple, nowMilliseconds: 10_000).fault == nil)
        }
        let refused = table.effect(on: .send, platform: .apple, nowMilliseconds: 39_500).fault
        #expect(refused?.answer == .status(429))
        #expect(refused?.retryAfter == 31)
        #expect(table.effect(on: .register, platform: .apple, nowMilliseconds: 39_500).fault == nil)
        #expect(table.effect(on: .send, platform: .apple, nowMilliseconds: 70_000).fault == nil)
    }

    @Test func `A scenario is a list of faults`() throws {
        let text = #"[{"Status":503,"At":"10s","For":"1m","Seed":3,"Rate":0.1},{"Swallow":true,"Platform":"apple"}]"#
        let faults = try FaultScenario(text).faults
        #expect(faults.map(\.startMilliseconds) == [10_000, 0])
        #expect(faults.map(\.durationMilliseconds) == [60_000, nil])
        #expect(faults[1].isSwallowed)
    }

    @Test(
        arguments: [
            ("{}", "not a JSON list"), ("[1]", "fault 1 is not a JSON object"),
            (#"[{"Status":503},{"Stats":1,"At":"x"}]"#, "/At: The value must be"), ("", "not a JSON list"),
        ] as [(String, String)])
    func `A bad scenario is refused in a sentence`(_ text: String, _ words: String) {
        let error = #expect(throws: FaultScenario.Refusal.self) { _ = try FaultScenario(text) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
}
