import Domain
import Foundation
import SecurePushClient
import Testing

@testable import SecurePushCLI

@Suite struct LoadReportTests {
    private func state(_ plan: LoadPlan) -> LoadMeasurements.State {
        let measurements = LoadMeasurements(plan)
        let start = ContinuousClock.now
        measurements.begin(at: start)
        while let ticket = measurements.take(), measurements.startRequest(ticket.notifications.count) {
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
                "RatePerSecond", "Read", "Recipients", "Sent", "StartedAt",
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

    @Test func `A payload is read once it is shown, and then its failure is over`() {
        let (first, second) = (NotificationID(high: 1, low: 1), NotificationID(high: 1, low: 2))
        var figures = ReadFigures()
        figures.expected = 3
        figures.fail(first, "SP-503")
        figures.fail(second, "SP-404")
        #expect(figures.failures == ["SP-503": 1, "SP-404": 1])
        #expect(figures.missing == 1)
        figures.show(first, latency: .milliseconds(7))
        #expect(figures.latency.count == 1)
        #expect(figures.failures == ["SP-404": 1])
        #expect(figures.missing == 1)
        for _ in 0..<2 { figures.note(DeviceEvent(.disconnected, reason: "x")) }
        #expect(figures.failures == ["SP-404": 1, "push channel lost": 2])
    }

    @Test func `A push of a notification that was pushed before is a repeated one, a withdrawal is not`() {
        var figures = ReadFigures()
        for (id, kind) in [("a", "silent push"), ("b", "silent push"), ("a", "data message"), ("b", "withdrawal")] {
            figures.note(DeviceEvent(.received, id: id, kind: kind))
        }
        #expect(figures.repeated == 1 && figures.openedChannels == 0)
    }

    @Test(arguments: [("p", 1), ("q", 0)])
    func `Only payloads of this test count`(text: String, count: Int) async throws {
        let measurements = LoadMeasurements(LoadPlan(count: 1, devices: 1))
        let id = try #require(PushID(NotificationID(high: 1, low: 1).description))
        await LoadScreen(payload: "p", measurements: measurements)
            .show(SecretNotification(id: id, text: text, json: "\"\(text)\""))
        #expect(measurements.snapshot.reads.latency.count == count)
    }
}
