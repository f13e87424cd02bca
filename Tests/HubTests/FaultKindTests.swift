import Foundation
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import TestSupport
import Testing

@testable import Hub

/// What each kind of fault does, as the client, the device and the record see it.
@Suite struct FaultKindTests {
    private static func last(_ emulator: Emulator) async throws -> [String: Any] {
        try #require(try await emulator.records("?Limit=1").first)
    }

    private static func hasWaitingPush(_ emulator: Emulator) -> Bool {
        emulator.state.devices.all.contains { $0.pending != nil }
    }

    @Test func `Refused before accepting`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Status":503,"RetryAfter":3}"#)
            let response = try await emulator.send(
                tags: "t", headers: [HTTPField.Name(static: "X-Request-Id"): "try-1", HubHeaders.trackingID: "track-1"])
            #expect(response.status.code == 503)
            let record = try await Self.last(emulator)
            #expect(record["Accepted"] as? Bool == false)
            #expect(record["AcceptedAt"] == nil)
            #expect(record["Status"] as? Int == 503)
            #expect(record["Outcome"] as? String == "Faulted")
            #expect(record["Fault"] as? String == "503, Retry-After 3")
            #expect(record["FaultIds"] as? [Int] == [1])
            #expect(record["RequestId"] as? String == "try-1")
            #expect(record["TrackingId"] as? String == "track-1")
            #expect(!Self.hasWaitingPush(emulator))
        }
    }

    @Test func `Accepted and then answered with an error`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Status":500,"Accept":true}"#)
            #expect(try await emulator.send(tags: "t").status.code == 500)
            let record = try await Self.last(emulator)
            #expect(record["Accepted"] as? Bool == true)
            #expect(record["Status"] as? Int == 500)
            #expect(record["Outcome"] as? String == "Completed")
            #expect(record["Fault"] as? String == "500 after accepting")
            #expect(Self.hasWaitingPush(emulator))
        }
    }

    @Test(arguments: [
        (#"{"Reset":true}"#, false), (#"{"Reset":true,"Accept":true}"#, true), (#"{"TimeoutMs":50}"#, false),
        (#"{"TimeoutMs":50,"Accept":true}"#, true),
    ])
    func `Cut or silent before and after accepting`(_ fault: String, _ isAccepted: Bool) async throws {
        try await withEmulator(.live) { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(fault)
            await #expect(throws: (any Error).self) { _ = try await emulator.send(tags: "t") }
            let record = try #require(emulator.state.log.records(after: nil, limit: 1).first)
            #expect(record.isAccepted == isAccepted)
            #expect(record.isUnanswered)
            #expect(record.status == nil)
            #expect(Self.hasWaitingPush(emulator) == isAccepted)
        }
    }

    @Test func `Swallowed is accepted and never delivered`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Swallow":true}"#)
            #expect(try await emulator.send(tags: "t").status == .created)
            let record = try await Self.last(emulator)
            #expect(record["Accepted"] as? Bool == true)
            #expect(record["Status"] as? Int == 201)
            #expect(record["Deliveries"] as? [String] == [])
            #expect(record["Fault"] as? String == "swallowed")
            #expect(!Self.hasWaitingPush(emulator))
        }
    }

    @Test func `A share of the pushes is swallowed and counted`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Platform":"apple","Swallow":true,"Rate":0.2,"Seed":12}"#)
            for _ in 0..<100 { #expect(try await emulator.send(tags: "t").status == .created) }
            let records = try await emulator.records("?Limit=100")
            let swallowed = records.count { $0["Fault"] as? String == "swallowed" }
            #expect((10...30).contains(swallowed))
            #expect(emulator.state.faults.all.map(\.hits) == [swallowed])
            #expect(records.count { $0["Deliveries"] as? [String] == ["AA"] } == 100 - swallowed)
        }
    }

    @Test(arguments: DeliveryOutcome.allCases.filter { ![.success, .unknown].contains($0) })
    func `Outcomes are injected`(_ outcome: DeliveryOutcome) async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            try await emulator.addFault(#"{"Outcome":"\#(outcome.rawValue)"}"#)
            #expect(try await emulator.send(tags: "t").status == .created)
            #expect(try await Self.last(emulator)["Outcomes"] as? [String: Int] == [outcome.rawValue: 1])
            #expect(!Self.hasWaitingPush(emulator))
        }
    }

    @Test func `Several at once all have their part`() async throws {
        try await withEmulator { emulator in
            try await emulator.register("aa", tags: "t")
            for fault in [
                #"{"LatencyMs":1}"#, #"{"Outcome":"Dropped"}"#, #"{"Swallow":true}"#, #"{"Status":500,"Accept":true}"#,
                #"{"Status":429}"#,
            ] { try await emulator.addFault(fault) }
            #expect(try await emulator.send(tags: "t").status.code == 500)
            let record = try await Self.last(emulator)
            #expect(record["Fault"] as? String == "delay 1 ms, Dropped, 500 after accepting")
            #expect(record["FaultIds"] as? [Int] == [1, 2, 4])
        }
    }

    @Test func `A fault is for a tag`() async throws {
        try await withEmulator { emulator in
            try await emulator.addFault(#"{"Status":503,"Tag":"username:ALICE"}"#)
            #expect(try await emulator.send(tags: "username:bob").status == .created)
            #expect(try await emulator.send().status == .created)
            #expect(try await emulator.send(tags: "username:bob || Username:Alice").status.code == 503)
        }
    }

    @Test(
        arguments: [
            (Fault.Operation.send, [Fault.Operation.send, .direct, .batch, .schedule]), (.direct, [.direct]),
            (.register, [.register]), (.telemetry, [.telemetry]), (.cancel, [.cancel]),
        ] as [(Fault.Operation, [Fault.Operation])])
    func `Operations are covered`(_ operation: Fault.Operation, _ covered: [Fault.Operation]) {
        #expect(Fault.Operation.allCases.filter(operation.covers) == covered)
    }

    @Test func `Faults are listed and removed one by one`() async throws {
        try await withEmulator { emulator in
            try await emulator.addFault(
                #"{"Status":503,"Operation":"Registration","At":"1m","For":"2m","Seed":7,"Rate":0.5}"#)
            try await emulator.addFault(#"{"Reset":true,"Accept":true}"#)
            let text = try await emulator.call(.get, "/emulator/faults", authorization: nil).text
            for part in [#""AtMs":60000"#, #""ForMs":120000"#, #""Operation":"register""#, #""Seed":7"#, #""Hits":0"#] {
                #expect(text.contains(part), "\(part)")
            }
            #expect(try await emulator.call(.delete, "/emulator/faults/1", authorization: nil).status == .ok)
            #expect(try await emulator.call(.delete, "/emulator/faults/1", authorization: nil).status == .notFound)
            #expect(emulator.state.faults.all.map(\.id) == [2])
        }
    }
}
