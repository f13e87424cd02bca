import ArgumentParser
import ServiceRuntime
import Testing

@testable import SecurePushCLI

@Suite struct TopViewTests {
    private func reading(_ service: String, _ before: String, _ after: String) -> TopReading {
        let ready = Readiness(state: .ready, down: [])
        let build = #"securepush_build_info{version="1.0"} 1"# + "\n"
        let time = ContinuousClock.now
        var process = ProcessState(
            ProcessPoll(readiness: ready, samples: PrometheusSamples(build + before), time: time))
        process.note(
            ProcessPoll(readiness: ready, samples: PrometheusSamples(build + after), time: time + .seconds(2)))
        return TopReading(service: service, url: "http://127.0.0.1", process)
    }

    @Test func `A dispatcher's figures`() {
        let attempts = "securepush_dispatch_attempts_total"
        let reading = reading(
            "dispatcher", "\(attempts){platform=\"apple\",result=\"sent\"} 10\nsecurepush_dispatch_settled_total 1",
            """
            \(attempts){platform="apple",result="sent"} 30
            \(attempts){platform="windows",result="throttled"} 4
            securepush_dispatch_settled_total 21
            securepush_dead_lettered_total{reason="attempts"} 2
            securepush_dead_lettered_total{reason="unreadable"} 1
            process_resident_memory_bytes 1048576
            """)
        #expect(
            reading.figures == [
                "DispatchedPerSecond": 10, "AttemptsPerSecond": 12, "SentPerSecond": 10, "ThrottledPerSecond": 2,
                "AttemptsApplePerSecond": 10, "AttemptsWindowsPerSecond": 2, "DeadLettered": 3,
            ])
        let lines = TopView(readings: [reading]) { text, _ in text }.lines
        #expect(lines[0] == "service     state  version  req/s  p50 ms  p99 ms  CPU %  RSS MB")
        #expect(lines[1] == "dispatcher  ready      1.0    0.0       -       -      -     1.0")
        #expect(lines.contains("attempts/s        10.0 sent, 2.0 throttled"))
        #expect(lines.contains("by platform       10.0 apple, 2.0 windows"))
        #expect(lines.contains { $0.hasPrefix("dead-lettered") && $0.hasSuffix(" 3 since start") })
    }

    @Test func `A hub's figures, and none without a hub`() {
        let pushes = "securepush_hub_pushes_total"
        let reading = reading(
            "hub", "\(pushes){hub=\"h\",platform=\"browser\",outcome=\"Success\"} 10",
            """
            \(pushes){hub="h",platform="browser",outcome="Success"} 30
            \(pushes){hub="h",platform="apple",outcome="Throttled"} 4
            securepush_hub_retries_waiting{hub="h",platform="apple"} 2
            securepush_hub_retries_waiting{hub="h",platform="browser"} 1
            """)
        #expect(reading.figures == ["PushesPerSecond": 12, "RetriesWaiting": 3])
        let lines = TopView(readings: [reading]) { text, _ in text }.lines
        #expect(lines.contains("pushes/s          12.0") && lines.contains("pushes waiting    3"))
        let others = TopView(readings: [self.reading("ingest", "", "")]) { text, _ in text }.lines
        #expect(!others.contains { $0.hasPrefix("pushes") })
    }

    @Test func `A hub is watched if a URL names it`() throws {
        let others = ["--ingest-url", "", "--retrieval-url", "", "--dispatcher", ""]
        let named = try TopCommand.parse(others + ["--hub-url", "http://127.0.0.1:1"]).clients()
        #expect(named.map(\.service) == ["hub"])
        let unnamed = try TopCommand.parse(others + ["--hub-url", ""]).clients()
        #expect(unnamed.isEmpty)
    }

    @Test(arguments: ["NaN", "+Inf", "-Inf", "1e300", "-1e300", "9223372036854775808"])
    func `A figure that is no whole number is a dash`(value: String) throws {
        let reading = reading(
            "ingest", "",
            "securepush_outbox_pending \(value)\nsecurepush_outbox_oldest_age_seconds \(value)\n"
                + "process_resident_memory_bytes \(value)\nsecurepush_dead_lettered_total{reason=\"attempts\"} \(value)"
        )
        #expect(!TopView(readings: [reading]) { text, _ in text }.lines.isEmpty)
        #expect(try !JSONCoding.encode(reading).isEmpty)
    }

    @Test func `Health and metrics are no requests of callers`() {
        let name = "securepush_http_requests_total"
        let reading = reading(
            "ingest", "\(name){route=\"/metrics\"} 1",
            "\(name){route=\"/metrics\"} 9\n\(name){route=\"/api/notifications\"} 6")
        #expect(reading.requestsPerSecond == 3)
    }

    @Test(arguments: [
        (
            200, #"{"status":"ready","checks":{"database":"up","amqp":"down"},"amqp":"down"}"#, Readiness.State.ready,
            ["amqp"]
        ),
        (503, #"{"status":"unready","checks":{"database":"down"}}"#, .unready, ["database"]),
        (200, "", .ready, []), (502, "<html>", .unready, []),
    ])
    func `What readyz tells`(status: Int, body: String, state: Readiness.State, down: [String]) {
        let readiness = Readiness(status: status, body: body)
        #expect(readiness.state == state && readiness.down == down)
    }

    @Test func `The failure names each service that is down`() {
        func reading(_ service: String, _ readiness: Readiness) -> TopReading {
            TopReading(service: service, url: "http://h:1", ProcessState(ProcessPoll(readiness: readiness)))
        }
        let ready = reading("ingest", Readiness(state: .ready, down: ["amqp"]))
        #expect(TopReading.failure([ready]) == nil)
        let failure = TopReading.failure([
            ready, reading("retrieval", Readiness(state: .unready, down: ["database"])),
            reading("dispatcher", .unreachable("no")),
        ])
        #expect(failure?.code == .unreachable)
        #expect(
            failure?.message == "retrieval is not ready at http://h:1, dispatcher does not answer at http://h:1.")
    }
}
