import Foundation
import Foundations
import ServiceRuntime
import Testing

@testable import Operator

@Suite("What the polls of the processes show")
struct ProcessTableTests {
    private func samples(sent: Int, below: [Int], start: Int = 100) -> PrometheusSamples {
        let name = "securepush_hub_request_duration_seconds_bucket"
        let bounds = ["0.01", "0.1", "1", "+Inf"]
        let buckets = zip(bounds, below).map { #"\#(name){platform="apple",hub="h",code="201",le="\#($0)"} \#($1)"# }
        return PrometheusSamples(
            """
            process_start_time_seconds \(start)
            securepush_lane_state{platform="apple",hub="h"} 1
            securepush_lane_limit{platform="apple",hub="h"} 192
            securepush_dispatch_attempts_total{platform="apple",hub="h",result="sent",reason="push"} \(sent)
            securepush_build_info{version="0.1.0",service="dispatcher"} 1
            \(buckets.joined(separator: "\n"))
            """)
    }

    private let start = ContinuousClock.now

    private func note(
        _ table: ProcessTable, _ samples: PrometheusSamples?, _ state: Readiness.State = .ready, at time: Timestamp
    ) {
        let poll = ProcessPoll(
            readiness: Readiness(state: state, down: state == .ready ? [] : ["refused"]), samples: samples,
            time: start + .milliseconds(time.milliseconds))
        table.note([.init(kind: .dispatcher, address: "http://d:1", poll: poll)], at: time)
    }

    @Test func `Lanes and latencies come from two polls`() throws {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        note(table, samples(sent: 10, below: [0, 0, 0, 0]), at: noon)
        note(table, samples(sent: 60, below: [50, 90, 100, 100]), at: noon + .seconds(5))
        let lane = try #require(Overview.Lane.all(in: table.entries).first)
        #expect(lane.state == "paused" && lane.limit == 192)
        #expect(lane.sentPerSecond == 10 && lane.failedPerSecond == 0)
        let hub = try #require(table.latencies.first { $0.name == "hub" })
        #expect(hub.count == 100 && hub.p50Milliseconds == 10)
        #expect(hub.p99Milliseconds.map { $0 > 100 && $0 <= 1000 } == true)
        #expect(hub.points.p50 == [nil, 10])
    }

    @Test func `Push services come from the hub's metrics and readiness`() throws {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        for (second, pushes) in [(0, 10), (5, 60)] {
            let samples = PrometheusSamples(
                """
                securepush_hub_lane_state{hub="app",platform="apple"} 0
                securepush_hub_lane_state{hub="app",platform="browser"} 2
                securepush_hub_removals_suspended{hub="app",platform="browser"} 1
                securepush_hub_retries_waiting{hub="app",platform="browser"} 7
                securepush_hub_pushes_total{hub="app",platform="browser",outcome="Success"} \(pushes)
                """)
            let readiness = Readiness(
                status: 200,
                body: #"{"status":"ready","checks":{},"simulated":{"app/apple":1},"in_flight":{"app/browser":3}}"#)
            let poll = ProcessPoll(readiness: readiness, samples: samples, time: .now + .seconds(second))
            table.note([.init(kind: .hub, address: "http://h:1", poll: poll)], at: noon + .seconds(second))
        }
        let lanes = PushServiceLane.all(in: table.entries)
        #expect(lanes.map(\.platform) == ["apple", "browser"])
        #expect(lanes.map(\.state) == ["simulated", "refused"])
        let browser = try #require(lanes.last)
        #expect(browser.removalsSuspended && browser.retriesWaiting == 7 && browser.inFlight == 3)
        #expect(browser.pushesPerSecond.map { $0 > 9 && $0 < 11 } == true)
        #expect(browser.acceptedPerSecond == browser.pushesPerSecond)
    }

    /// A process could answer with numbers that JSON cannot hold and that no scale has.
    @Test(arguments: ["+Inf", "1e308", "NaN"]) func `Numbers that cannot be true are left out`(_ value: String) throws {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        for (poll, (value, count)) in [("0", 0), (value, 5)].enumerated() {
            let text = """
                securepush_lane_state{platform="apple",hub="h"} 0
                securepush_lane_limit{platform="apple",hub="h"} \(value)
                securepush_lane_held_total{platform="apple",hub="h"} \(value)
                securepush_dispatch_attempts_total{platform="apple",hub="h",result="sent",reason="push"} \(value)
                securepush_hub_request_duration_seconds_bucket{platform="apple",hub="h",code="201",le="1e308"} \(count)
                process_cpu_seconds_total \(value)
                """
            note(table, PrometheusSamples(text), at: noon + .seconds(5 * poll))
        }
        let lanes = Overview.Lane.all(in: table.entries)
        let lane = try #require(lanes.first)
        #expect(lane.limit == nil && lane.held == nil && lane.p99Milliseconds == nil && lane.sentPerSecond ?? 0 == 0)
        let hub = try #require(table.latencies.first { $0.name == "hub" })
        #expect(hub.count == 5 && hub.p50Milliseconds == nil)
        #expect(hub.points.p50 == [nil, nil])
        _ = try JSONEncoder().encode(lanes)
        _ = try JSONEncoder().encode(table.latencies.map(\.points))
        _ = try JSONEncoder().encode(Overview.Rates(table.entries))
    }

    @Test func `Lanes are bounded`() {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        let lines = (0..<300).map { #"securepush_lane_state{platform="apple",hub="h\#($0)"} 0"# }
        note(table, PrometheusSamples(lines.joined(separator: "\n")), at: noon)
        #expect(Overview.Lane.all(in: table.entries).count == Overview.Lane.maxPerDispatcher)
    }

    @Test func `What fails keeps its beginning and a restart is no rate`() throws {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        note(table, samples(sent: 10, below: [0, 0, 0, 0]), at: noon)
        for second in [5, 10] { note(table, nil, .unreachable, at: noon + .seconds(second)) }
        let process = try #require(table.entries.first?.process)
        #expect(process.readiness.down == ["refused"] && process.since == noon + .seconds(5))
        #expect(process.version == "0.1.0")
        #expect(Overview.Lane.all(in: table.entries).isEmpty)
        note(table, samples(sent: 3, below: [0, 0, 0, 0], start: 500), at: noon + .seconds(15))
        note(table, samples(sent: 1, below: [9, 9, 9, 9], start: 900), at: noon + .seconds(20))
        #expect(Overview.Lane.all(in: table.entries).first?.sentPerSecond == nil)
    }

    @Test func `A process that lost its address is shown and then forgotten`() {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        note(table, samples(sent: 1, below: [0, 0, 0, 0]), at: noon)
        table.note([], at: noon + .seconds(5))
        #expect(table.entries.first?.process.readiness.state == .unreachable)
        table.note([], at: noon + ProcessTable.memory + .seconds(1))
        #expect(table.entries.isEmpty)
    }

    @Test func `The history is bounded`() {
        let (table, noon) = (ProcessTable(), Timestamp(milliseconds: 1_795_262_400_000))
        for poll in 0..<(LatencyHistory.maxPoints + 50) {
            note(table, samples(sent: poll, below: [poll, poll, poll, poll]), at: noon + .seconds(5 * poll))
        }
        let counts = Set(table.latencies.map(\.points.at.count))
        #expect(counts == [LatencyHistory.maxPoints])
    }
}
