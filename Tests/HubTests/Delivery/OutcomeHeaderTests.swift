import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Testing

@testable import Hub

/// The header `SecurePush-Outcome` of an answer to a send.
@Suite struct OutcomeHeaderTests {
    @Test func `It has the outcomes so far`() async throws {
        try await withEmulator(tellsOutcomes: true) { emulator in
            for handle in ["a1", "a2"] { try await emulator.register(handle, tags: "t,\(handle)") }
            try await emulator.register("a2", tags: "t")
            let expected: [(String, String?)] = [
                ("a1", "Success"), ("t", "Success=2, Skipped=1"), ("nobody", "NoTargetFound"),
            ]
            for (tags, outcome) in expected {
                let sent = try await emulator.send(tags: tags)
                #expect(sent.status == .created && sent.headers[HubHeaders.outcome] == outcome)
            }
            try await emulator.addFault(#"{"Outcome":"ExpiredChannel","Count":1}"#)
            #expect(try await emulator.send(tags: "a1").headers[HubHeaders.outcome] == "ExpiredChannel")
            try await emulator.addFault(#"{"Swallow":true,"Count":1}"#)
            #expect(try await emulator.send(tags: "a1").headers[HubHeaders.outcome] == nil)
            let direct = try await emulator.send(
                format: "gcm", headers: [HubHeaders.deviceHandle: "x"], uri: "/hub/messages?direct")
            #expect(direct.headers[HubHeaders.outcome] == "BadChannel")
            let scheduled = try await emulator.send(
                tags: "a1", headers: [HubHeaders.scheduleTime: (Timestamp.now + .seconds(3600)).description],
                uri: "/hub/schedulednotifications")
            #expect(scheduled.status == .created && scheduled.headers[HubHeaders.outcome] == nil)
        }
    }

    @Test func `The emulator has none, as Azure`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            let sent = try await emulator.send(tags: "t")
            #expect(sent.status == .created && sent.headers[HubHeaders.outcome] == nil)
        }
    }

    @Test func `Native headers are those that connectors know`() {
        let headers: HTTPFields = [
            HTTPField.Name(static: "X-Apns-Collapse-Id"): "c", HTTPField.Name(static: "TTL"): "60",
            HTTPField.Name(static: "X-WNS-Type"): "wns/raw", .authorization: "secret",
            HTTPField.Name(static: "ServiceBusNotification-Apns-Expiry"): "2026-11-27T14:00:00Z",
        ]
        let apple = NativeHeaders.make(nil, headers, platform: .apple)
        #expect(
            apple == ["apns-collapse-id": "c", "x-wns-type": "wns/raw", "apns-expiration": "1795788000"])
        #expect(NativeHeaders.make(nil, headers, platform: .browser)["ttl"] == "60")
        #expect(NativeHeaders.make(["Apns-Priority": "5"], headers, platform: .apple) == ["apns-priority": "5"])
        let now = Timestamp(milliseconds: 1_000_000)
        let expected: [([String: String], Timestamp?)] = [
            (["ttl": "60"], now + .seconds(60)), (["ttl": "0"], nil), (["ttl": "-1"], nil), (["ttl": "x"], nil),
            (["apns-expiration": "5000"], Timestamp(milliseconds: 5_000_000)), (["apns-expiration": "0"], nil),
            (["apns-expiration": "9223372036854775807"], Timestamp(milliseconds: 253_402_300_799_000)), ([:], nil),
            (["x-wns-ttl": "9"], now + .seconds(9)),
        ]
        for (headers, expiry) in expected { #expect(NativeHeaders.expiry(headers, receivedAt: now) == expiry) }
    }
}
