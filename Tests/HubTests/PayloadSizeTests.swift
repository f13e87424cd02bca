import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Testing

@testable import Hub

/// APNs takes 4,096 bytes. The hub passes larger notifications on, and they are lost.
@Suite struct PayloadSizeTests {
    @Test(
        arguments: [
            (4096, nil, true), (4097, nil, false), (4097, "alert", false), (5120, "voip", true), (5121, "voip", false),
        ] as [(Int, String?, Bool)])
    func `What AP ns refuses is not delivered`(_ row: (size: Int, type: String?, isDelivered: Bool)) async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.register(
                "f:1", tags: "other", element: "FcmV1RegistrationDescription", field: "FcmV1RegistrationId")
            var headers: HTTPFields = [:]
            headers[HTTPField.Name(static: "apns-push-type")] = row.type
            let sent = try await emulator.send(
                String(repeating: "x", count: row.size), tags: "t", headers: headers)
            #expect(sent.status == .created)
            let record = try #require(try await emulator.records("?Limit=1").first)
            let outcome = row.isDelivered ? "Success" : "InvalidNotificationSize"
            #expect(record["Outcomes"] as? [String: Int] == [outcome: 1])
            #expect(record["Deliveries"] as? [String] == (row.isDelivered ? ["AA"] : []))
            let results = try #require(record["Results"] as? [[String: String]])
            #expect(results == [["Handle": "AA", "Platform": "apple", "Outcome": outcome]])
            let warnings = try #require(record["Warnings"] as? [String])
            #expect(warnings.contains { $0.contains("larger than the") } == !row.isDelivered)
            let devices = try await emulator.call(.get, "/emulator/devices", authorization: nil).text
            #expect(devices.contains("\"Waiting\":true") == row.isDelivered)
            let id = try #require(sent.headers[.location]?.between("/messages/", "?"))
            let telemetry = try await emulator.call(.get, "/hub/messages/\(id)").text
            #expect(
                telemetry.contains(
                    "<ApnsOutcomeCounts><Outcome><Name>\(outcome)</Name><Count>1</Count></Outcome></ApnsOutcomeCounts>")
            )
        }
    }

    @Test func `A template and a schedule are measured too`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(
                #"{"platform":"apns","pushChannel":"AA","templates":{"t":{"body":"{\"aps\":{\"alert\":\"$(m)\"}}"}}}"#)
            let message = #"{"m":"\#(String(repeating: "x", count: 4096))"}"#
            _ = try await emulator.send(message, format: "template")
            let record = try #require(try await emulator.records("?Limit=1").first)
            #expect(record["Outcomes"] as? [String: Int] == ["InvalidNotificationSize": 1])
            let soon = Timestamp(milliseconds: Timestamp.now.milliseconds + 60_000)
            _ = try await emulator.send(
                String(repeating: "x", count: 4097), headers: [HubHeaders.scheduleTime: soon.description],
                uri: "/hub/schedulednotifications")
            #expect(try await emulator.deliverSchedules(at: soon) == 1)
            let later = try #require(try await emulator.records("?Limit=1").first)
            #expect(later["Kind"] as? String == "scheduled")
            #expect(later["Outcomes"] as? [String: Int] == ["InvalidNotificationSize": 1])
            let devices = try await emulator.call(.get, "/emulator/devices", authorization: nil).text
            #expect(!devices.contains("\"Waiting\":true"))
        }
    }
}
