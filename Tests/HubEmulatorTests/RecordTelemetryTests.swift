import HTTPTypes
import HummingbirdTesting
import Testing

@testable import HubEmulator

@Suite struct RecordTelemetryTests {
    private func telemetry(_ emulator: Emulator, hubKey: String = "hub") throws -> MessageTelemetry? {
        let id = try #require(emulator.state.log.records(after: nil, limit: 1).first?.id)
        return emulator.state.log.telemetry(of: id, hubKey: hubKey)
    }

    @Test func countsAreByPlatformAndOutcome() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.register("aa", tags: "t")
            _ = try await emulator.send(tags: "t")
            let sent = try #require(try telemetry(emulator))
            #expect(sent.state == .completed)
            #expect(sent.outcomes == [.apple: ["Success": 1, "Skipped": 1]])
            #expect(sent.targetPlatforms == [.apple])
            #expect(try telemetry(emulator, hubKey: "other") == nil)
            _ = try await emulator.send(
                format: "gcm", headers: [HubHeaders.deviceHandle: "x"], uri: "/hub/messages?direct")
            #expect(try #require(try telemetry(emulator)).outcomes == [.gcm: ["BadChannel": 1]])
            _ = try await emulator.send(tags: "nobody")
            #expect(try #require(try telemetry(emulator)).state == .noTargetFound)
        }
    }

    @Test func refusedOnesAreUnknownAndSwallowedOnesAreUnderWay() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Status":503,"Count":1}"#)
            _ = try await emulator.send(tags: "t")
            #expect(try telemetry(emulator) == nil)
            try await emulator.addFault(#"{"Swallow":true}"#)
            _ = try await emulator.send(tags: "t")
            #expect(try #require(try telemetry(emulator)).state == .processing)
        }
    }
}
