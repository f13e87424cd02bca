import HTTPTypes
import HummingbirdTesting
import Storage
import Testing

@testable import Hub

@Suite struct RecordTelemetryTests {
    private func telemetry(_ emulator: Emulator, hubKey: String = "hub") async throws -> HubMessage? {
        let id = try #require(emulator.state.log.records(after: nil, limit: 1).first?.id)
        guard HubMessageID.isPossible(id) else { return nil }
        return try await emulator.state.delivery.messages.message(id, hub: hubKey)
    }

    @Test func `Counts are by platform and outcome`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.register("aa", tags: "t")
            _ = try await emulator.send(tags: "t")
            let sent = try #require(try await telemetry(emulator))
            #expect(sent.state == "Completed")
            #expect(sent.counts == ["apple Success": 1, "apple Skipped": 1])
            #expect(try await telemetry(emulator, hubKey: "other") == nil)
            _ = try await emulator.send(
                format: "gcm", headers: [HubHeaders.deviceHandle: "x"], uri: "/hub/messages?direct")
            #expect(try #require(try await telemetry(emulator)).counts == ["gcm BadChannel": 1])
            _ = try await emulator.send(tags: "nobody")
            #expect(try #require(try await telemetry(emulator)).state == "NoTargetFound")
        }
    }

    @Test func `A handle is good until its last registration is deleted`() async throws {
        try await withEmulator { emulator in
            var ids: [String] = []
            for tag in ["t", "u"] { ids.append(try await emulator.register("aa", tags: tag)) }
            for (id, outcome) in zip(ids, ["Success", "BadChannel"]) {
                let deleted = try await emulator.call(
                    .delete, "/hub/registrations/\(id)", headers: [.ifMatch: "*"])
                #expect(deleted.status == .ok)
                _ = try await emulator.send(
                    headers: [HubHeaders.deviceHandle: "aa"], uri: "/hub/messages?direct")
                #expect(try #require(try await telemetry(emulator)).counts == ["apple \(outcome)": 1])
            }
        }
    }

    @Test func `A registration that is updated leaves its former handle behind`() async throws {
        try await withEmulator { emulator in
            let id = try await emulator.register("aa", tags: "t")
            let updated = try await emulator.call(
                .put, "/hub/registrations/\(id)", headers: TestEntry.headers, body: TestEntry.apple("BB"))
            #expect(updated.status == .ok)
            for (handle, outcome) in [("aa", "BadChannel"), ("bb", "Success")] {
                _ = try await emulator.send(
                    headers: [HubHeaders.deviceHandle: handle], uri: "/hub/messages?direct")
                #expect(try #require(try await telemetry(emulator)).counts == ["apple \(outcome)": 1])
            }
        }
    }

    @Test func `Refused ones are unknown and swallowed ones are in flight`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Status":503,"Count":1}"#)
            _ = try await emulator.send(tags: "t")
            #expect(try await telemetry(emulator) == nil)
            try await emulator.addFault(#"{"Swallow":true}"#)
            _ = try await emulator.send(tags: "t")
            #expect(try #require(try await telemetry(emulator)).state == "Processing")
        }
    }
}

extension HubMessage {
    fileprivate var counts: [String: Int] {
        outcomes.reduce(into: [:]) { $0["\($1.platform) \($1.name)", default: 0] += $1.count }
    }
}
