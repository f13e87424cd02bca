import Foundations
import HTTPTypes
import HummingbirdTesting
import PushServices
import StackKit
import Storage
import Testing

@testable import Hub

/// Scheduled sends that take long, and those that cannot be delivered.
@Suite struct ScheduledBroadcastTests {
    private static func handle(_ number: Int) -> String { "AA" + String(10_000 + number) + "0" }

    /// A send to more devices than a page has.
    private func withBroadcast(
        devices: Int = HubTables.pageSize + 1,
        _ test: @escaping @Sendable (Emulator, ScriptedConnector, HubTables) async throws -> Void
    ) async throws {
        let connector = ScriptedConnector()
        // The tests decide when a push service answers, also on a slow machine.
        var settings = DeliverySettings()
        settings.acceptTimeout = .seconds(60)
        settings.pushTimeout = .seconds(60)
        try await withEmulator(pushers: DeliveryBench.pushers(connector), delivery: settings) { hub in
            for number in 0..<devices { try await hub.register(Self.handle(number), tags: "t") }
            let sent = try await hub.send(
                tags: "t", headers: [HubHeaders.scheduleTime: "2026-01-31T10:00:00"],
                uri: "/hub/schedulednotifications?api-version=2020-06")
            #expect(sent.status == .created)
            try await test(hub, connector, hub.state.store.tables)
        }
    }

    @Test func `After each page the place is stored and the lease is a new one`() async throws {
        try await withBroadcast { hub, connector, tables in
            connector.plan(Self.handle(HubTables.pageSize), .silence)
            let begin = Timestamp.now
            async let count = hub.deliverSchedules(at: begin)
            try await expectToHold { connector.silentCount == 1 }
            #expect(try #require(try await tables.nextSchedule()) >= begin + HubTables.scheduleLease)
            // Another process that takes it now goes on after the first page.
            let other = try await tables.leaseDueSchedules(
                limit: 9, claim: 1, now: .now + HubTables.scheduleLease + .seconds(1))
            #expect(other.map(\.place) == [Int64(HubTables.pageSize)])
            connector.end(Self.handle(HubTables.pageSize), .accepted)
            #expect(try await count == 1)
            #expect(connector.handles.count == HubTables.pageSize + 1)
        }
    }

    @Test func `Another process goes on where one has died, and no device gets a second push`() async throws {
        try await withBroadcast { hub, connector, tables in
            // The last device is one of the first page as well.
            try await hub.register(Self.handle(7), tags: "t")
            let lease = Timestamp.now
            let dead = try #require(try await tables.leaseDueSchedules(limit: 9, claim: 7, now: lease).first)
            #expect(
                try await tables.extendSchedule(
                    dead.id, claim: 7, place: Int64(HubTables.pageSize), until: lease))
            #expect(try await hub.deliverSchedules(at: .now) == 1)
            #expect(connector.handles == [Self.handle(HubTables.pageSize)])
            #expect(try await tables.scheduleCount() == 0)
        }
    }

    @Test func `Who has lost a send stops after the page that is under way`() async throws {
        try await withBroadcast { hub, connector, tables in
            connector.plan(Self.handle(0), .silence)
            async let count = hub.deliverSchedules(at: .now)
            try await expectToHold { connector.silentCount == 1 }
            let later = Timestamp.now + HubTables.scheduleLease + .seconds(1)
            #expect(try await tables.leaseDueSchedules(limit: 9, claim: 1, now: later).count == 1)
            connector.end(Self.handle(0), .accepted)
            #expect(try await count == 1)
            #expect(connector.handles.count == HubTables.pageSize)
            // It is the other one's.
            #expect(try await tables.scheduleCount() == 1)
        }
    }

    @Test func `One that is cancelled in the middle ends there`() async throws {
        try await withBroadcast { hub, connector, _ in
            connector.plan(Self.handle(0), .silence)
            async let count = hub.deliverSchedules(at: .now)
            try await expectToHold { connector.silentCount == 1 }
            let id = try #require(try await hub.records("?Limit=1").first?["Id"] as? String)
            let cancelled = try await hub.call(.delete, "/hub/schedulednotifications/\(id)?api-version=2020-06")
            #expect(cancelled.status == .ok)
            connector.end(Self.handle(0), .accepted)
            #expect(try await count == 1)
            #expect(connector.handles.count == HubTables.pageSize)
        }
    }

    @Test func `One that cannot be read is set aside once, and the others go on`() async throws {
        try await withBroadcast(devices: 1) { hub, connector, tables in
            let due = Timestamp(milliseconds: 1)
            try await tables.add(HubSchedule(id: "damaged", hub: "hub", dueAt: due, request: [1, 2]))
            #expect(try await hub.deliverSchedules(at: .now) == 1)
            #expect(connector.handles == [Self.handle(0)])
            #expect(try await tables.nextSchedule() == nil)
            #expect(try await hub.deliverSchedules(at: .now + .seconds(3600)) == 0)
            // It stays for a person to look at.
            #expect(try await tables.scheduleCount() == 1)
        }
    }

    @Test func `Tags that cannot be read are no send to all`() async throws {
        try await withBroadcast(devices: 1) { hub, connector, tables in
            #expect(try await hub.deliverSchedules(at: .now) == 1)
            let wrong = ScheduledSend(
                id: "wrong", hub: "hub", format: .apple, tags: "t && (", headers: [:], body: Array("{}".utf8),
                dueAt: Timestamp(milliseconds: 1))
            try await tables.add(wrong.stored)
            #expect(try await hub.deliverSchedules(at: .now) == 1)
            #expect(connector.handles == [Self.handle(0)])
            #expect(try await tables.nextSchedule() == nil)
            #expect(try await tables.scheduleCount() == 1)
        }
    }
}
