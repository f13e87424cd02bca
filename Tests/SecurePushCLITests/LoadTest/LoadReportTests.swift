import Foundation
import SecurePushCore
import Testing

@testable import SecurePushCLI

@Suite struct LoadReportTests {
    private func state(_ plan: LoadPlan) -> LoadMeasurements.State {
        let measurements = LoadMeasurements(plan)
        let start = ContinuousClock.now
        measurements.begin(at: start)
        while let ticket = measurements.take() {
            for notification in ticket.notifications {
                let id = NotificationID(high: 1, low: UInt64(notification))
                measurements.record(notification, notification == 7 ? .failed("503") : .accepted(id), start: start)
            }
        }
        measurements.endSending(at: start + .seconds(2))
        return measurements.snapshot
    }

    @Test func `The JSON has its units in its names`() throws {
        let plan = LoadPlan(count: 10, rate: 5, batch: 2, usesBatchRoute: true, devices: 3)
        let text = try JSONCoding.encode(LoadReport(state(plan), plan: plan, interrupted: false))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(
            object.keys.sorted() == [
                "AcceptLatency", "Accepted", "AcceptedPerSecond", "Batch", "Concurrency", "Count", "Dispatch",
                "DurationSeconds", "Failed", "Failures", "Interrupted", "PayloadBytes", "Problems",
                "RatePerSecond", "Read", "Recipients", "Sent",
            ])
        #expect(object["AcceptedPerSecond"] as? Double == 4.5)
        #expect(object["Failures"] as? [String: Int] == ["503": 1])
        let latency = try #require(object["AcceptLatency"] as? [String: Any])
        #expect(
            latency.keys.sorted() == [
                "Count", "MaxMilliseconds", "MeanMilliseconds", "P50Milliseconds", "P90Milliseconds",
                "P95Milliseconds", "P999Milliseconds", "P99Milliseconds",
            ])
        let read = try #require(object["Read"] as? [String: Any])
        #expect(read["Expected"] as? Int == 3)
        #expect(read["Missing"] as? Int == 3)
    }

    @Test func `The text tells what was done and what came of it`() {
        let plan = LoadPlan(count: 1000)
        let lines = LoadReport(state(plan), plan: plan, interrupted: true).text { text, _ in text }
        #expect(lines[0] == "sent        1,000 of 1,000 to 100 users, 100 bytes each, flat out, 64 in flight")
        #expect(lines[1] == "accepted    999 in 2.00 s: 500/s")
        #expect(lines[2] == "failed      1 × 503")
        #expect(lines.contains("dispatched  not counted"))
        #expect(lines.contains("pending     999 were not dispatched in time"))
        #expect(lines.contains { $0.contains("interrupted") })
        #expect(lines.contains { $0.hasPrefix("latency, ms") && $0.hasSuffix("max") })
    }

    @Test(
        arguments: [
            (LoadReading.read, 1, 0, [:]), (.repeated, 0, 1, [:]), (.foreign, 0, 0, [:]),
            (.failed("404"), 0, 0, ["404": 1]),
        ] as [(LoadReading, Int, Int, [String: Int])])
    func `Readings`(reading: LoadReading, read: Int, repeated: Int, failures: [String: Int]) {
        var figures = ReadFigures()
        figures.note(reading, latency: .milliseconds(7))
        #expect(figures.latency.count == read)
        #expect(figures.repeated == repeated)
        #expect(figures.failures == failures)
    }

    @Test(arguments: [
        (200, #"{"Id":"1","Payload":"p","Read":false}"#, LoadReading.read),
        (200, #"{"Id":"1","Payload":"p","Read":true}"#, .repeated),
        (200, #"{"Id":"1","Payload":"q","Read":false}"#, .foreign), (200, #"{"Payload":{},"Read":false}"#, .foreign),
        (404, "", .failed("404")), (503, "", .failed("503")),
    ])
    func `What a device's answer means`(status: Int, body: String, reading: LoadReading) {
        #expect(LoadReading(.success(APIResponse(status: status, body: body)), payload: "p") == reading)
    }
}
