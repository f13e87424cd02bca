import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import ServiceLifecycle
import StackKit
import Storage
import TestSupport
import Testing

@testable import Hub

@Suite struct ScheduleTests {
    private static func schedule(
        _ emulator: Emulator, at time: String?, tags: String = "t"
    ) async throws -> TestResponse {
        var headers: HTTPFields = [HubHeaders.format: "apple", HubHeaders.tags: tags]
        headers[HubHeaders.scheduleTime] = time
        return try await emulator.call(
            .post, "/hub/schedulednotifications?api-version=2020-06", headers: headers, body: #"{"aps":{}}"#)
    }

    private static func later(seconds: Int64) -> Timestamp {
        Timestamp(milliseconds: Timestamp.now.milliseconds + seconds * 1000)
    }

    @Test(arguments: [
        "2026-01-31T10:00:00", "2026-01-31T10:00:00.000Z", "2026-01-31T12:30:00+02:30", "2026-01-31'T'10:00:00",
        "2026-01-31 10:00:00Z", " 2026-01-31t10:00:00.0000000z ", "2026-01-31T09:00:00-0100",
    ])
    func `Times are read in all spellings`(_ text: String) {
        #expect(Timestamp(scheduleHeader: text)?.description == "2026-01-31T10:00:00.000Z")
    }

    @Test(arguments: [
        "", "tomorrow", "2026-01-31", "2026-02-30T10:00:00", "2026-01-31T24:00:00", "2026-01-31T10:60:00",
        "2026-01-31T10:00:00+", "2026-01-31T10:00:00.Z", "2026-01-31T10:00:00Zx", "1950-01-01T00:00:00",
        "2026-1-31T10:00:00",
    ])
    func `Other texts are no times`(_ text: String) {
        #expect(Timestamp(scheduleHeader: text) == nil)
    }

    @Test func `Milliseconds are kept`() {
        #expect(Timestamp(scheduleHeader: "2024-02-29T23:59:59.1239Z")?.description == "2024-02-29T23:59:59.123Z")
    }

    @Test func `It is delivered when its time has come and not before`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            let due = Self.later(seconds: 3600)
            let response = try await Self.schedule(emulator, at: due.description)
            #expect(response.status == .created)
            let location = try #require(response.headers[.location])
            let shape =
                /.*\/hub\/schedulednotifications\/[0-9a-f]{32}_\d{14}_\d+_\d+_QNHQueue\d+-S\d+\?api-version=2020-06/
            #expect(location.wholeMatch(of: shape) != nil, "\(location)")
            let waiting = try #require(try await emulator.records("?Limit=1").first)
            #expect(waiting["Outcome"] as? String == "Scheduled")
            #expect(waiting["DueAt"] as? String == due.description)
            let early = Timestamp(milliseconds: due.milliseconds - 1)
            #expect(try await emulator.deliverSchedules(at: early) == 0)
            #expect(try await emulator.deliverSchedules(at: due) == 1)
            let record = try #require(try await emulator.records("?Limit=1").first)
            #expect(record["Outcome"] as? String == "Completed")
            #expect(record["Deliveries"] as? [String] == ["AA"])
            #expect(record["Sequence"] as? Int == waiting["Sequence"] as? Int)
            #expect(try await emulator.state.store.tables.scheduleCount() == 0)
        }
    }

    @Test func `The service sends on time`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await withThrowingTaskGroup(of: Void.self) { group in
                let service = ScheduleService(
                    schedules: emulator.state.schedules, sends: emulator.state.sends,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
                group.addTask { try await service.run() }
                // The second one is due first, so the service must not sleep on until the first.
                _ = try await Self.schedule(emulator, at: Self.later(seconds: 3600).description)
                _ = try await Self.schedule(emulator, at: Self.later(seconds: 1).description)
                let isSent = try await eventually {
                    try await emulator.records("?Limit=1").first?["Outcome"] as? String == "Completed"
                }
                #expect(isSent)
                let isRemoved = try await eventually { try await emulator.state.store.tables.scheduleCount() == 1 }
                #expect(isRemoved)
                group.cancelAll()
            }
        }
    }

    @Test func `A cancelled one is not sent`() async throws {
        try await withEmulator { emulator in
            let response = try await Self.schedule(emulator, at: Self.later(seconds: 3600).description)
            let id = try #require(response.headers[.location]?.between("schedulednotifications/", "?"))
            let path = "/hub/schedulednotifications/\(id)?api-version=2020-06"
            #expect(try await emulator.call(.delete, "/other/schedulednotifications/\(id)").status == .notFound)
            #expect(try await emulator.call(.delete, path).status == .ok)
            #expect(try await emulator.call(.delete, path).status == .notFound)
            #expect(try await emulator.deliverSchedules(at: Self.later(seconds: 7200)) == 0)
            #expect(try await emulator.records("?Limit=1").first?["Outcome"] as? String == "Cancelled")
        }
    }

    @Test func `Seven days are the horizon`() async throws {
        try await withEmulator { emulator in
            let week: Int64 = 7 * 86_400
            let inTime = try await Self.schedule(emulator, at: Self.later(seconds: week - 5).description)
            #expect(inTime.status == .created)
            for time in [Self.later(seconds: week + 60).description, "soon", nil] {
                let refused = try await Self.schedule(emulator, at: time)
                #expect(refused.status == .badRequest)
            }
            let past = try await Self.schedule(emulator, at: "2020-01-01T00:00:00")
            #expect(past.status == .created)
        }
    }
}
