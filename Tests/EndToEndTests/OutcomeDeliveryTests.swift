import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// From the hub's telemetry to the status that a sender sees.
@Suite("Outcomes of the hub", .serialized, .broker, .timeLimit(.minutes(5)))
struct OutcomeDeliveryTests {
    private struct Status: Decodable {
        struct Delivery: Decodable {
            let Platform: String
            let State: String
            let Outcome: String?
        }

        let Status: String
        let Deliveries: [Delivery]

        /// The outcomes by platform.
        var outcomes: [String: String] {
            Dictionary(uniqueKeysWithValues: Deliveries.compactMap { row in row.Outcome.map { (row.Platform, $0) } })
        }
    }

    /// The services around an emulator.
    private struct Services {
        let stack: Stack
        let emulator: RunningService
        let ingest: RunningService
        let retrieval: RunningService
        let hub: [String: String]

        init(_ stack: Stack) async throws {
            self.stack = stack
            let (emulator, connection) = try await stack.startEmulator()
            hub = ["HUB_CONNECTION_STRING": connection]
            self.emulator = emulator
            ingest = try await stack.start("ingest", hub)
            retrieval = try await stack.start("retrieval", hub)
            #expect(try await retrieval.isReady(#""database":"up""#))
        }

        func dispatcher(telemetry: Bool) async throws -> RunningService {
            let dispatcher = try await stack.start(
                "dispatcher", hub.merging(["HUB_TELEMETRY": "\(telemetry)"]) { $1 })
            try await expectReady(ingest, dispatcher)
            return dispatcher
        }

        func register(_ id: String, _ platform: String, _ handle: String) async throws {
            let answer = try await retrieval.request(
                .PUT, "/api/installations/\(id)", bearer: stack.token(of: "alice"),
                body: #"{"installationId":"\#(id)","platform":"\#(platform)","pushChannel":"\#(handle)"}"#)
            #expect(answer.status == 200, "\(answer.body)")
        }

        func fault(_ json: String) async throws {
            let answer = try await emulator.request(.POST, "/emulator/faults", body: json)
            #expect((200...201).contains(answer.status), "\(answer.body)")
        }

        func status(_ id: NotificationID) async throws -> Status {
            try await ingest.request(.GET, "/api/notifications/\(id)/status", bearer: stack.apiKey).decoded()
        }

        func has(_ outcomes: [String: String], _ id: NotificationID) async throws -> Bool {
            try await eventually(within: .seconds(90)) { try await status(id).outcomes == outcomes }
        }
    }

    private static func handle(_ character: Character) -> String { String(repeating: character, count: 64) }

    /// Alice has two devices of Apple's, and one of Google's whose channel is dead.
    @Test(arguments: TestDatabase.allCases)
    func `The sender sees what became of each message`(_ database: TestDatabase) async throws {
        try await withStack(database) { stack in
            let services = try await Services(stack)
            let dispatchers = [
                try await services.dispatcher(telemetry: true), try await services.dispatcher(telemetry: true),
            ]
            try await services.register("a1", "apns", Self.handle("a"))
            try await services.register("a2", "apns", Self.handle("b"))
            try await services.register("f1", "fcmv1", "dead-channel")
            try await services.fault(#"{"Platform":"fcmv1","Outcome":"BadChannel"}"#)
            let id = try await services.ingest.post("1", to: "alice", stack)
            let outcomes = ["apple": "Success=2", "fcmv1": "BadChannel", "windows": "NoTargetFound"]
            let isKnown = try await services.has(outcomes, id)
            let status = try await services.status(id)
            #expect(isKnown, "\(status)")
            #expect(status.Status == "dispatched" && status.Deliveries.allSatisfy { $0.State == "sent" })
            // The restart of all dispatchers loses nothing.
            let later = try await services.ingest.post("2", to: "alice", stack)
            #expect(try await eventually { try await services.status(later).Status == "dispatched" })
            for dispatcher in dispatchers { try await dispatcher.drain() }
            let restarted = try await services.dispatcher(telemetry: true)
            let isKnownLater = try await services.has(outcomes, later)
            #expect(isKnownLater)
            let metrics = try await restarted.request(.GET, "/metrics").body
            #expect(
                metrics.contains(#"securepush_hub_outcomes_total{outcome="Success",platform="apple"} 2"#)
                    || metrics.contains(#"securepush_hub_outcomes_total{platform="apple",outcome="Success"} 2"#))
            try await restarted.drain()
        }
    }

    @Test func `Without telemetry the hub is not asked or left alone`() async throws {
        try await withStack(.postgres) { stack in
            let services = try await Services(stack)
            try await services.fault(#"{"Operation":"telemetry","Status":403}"#)
            let silent = try await services.dispatcher(telemetry: false)
            let id = try await services.ingest.post("1", to: "alice", stack)
            #expect(try await eventually { try await services.status(id).Status == "dispatched" })
            let asking = try await services.dispatcher(telemetry: true)
            let refusal = "The hub does not report the outcomes of its messages"
            let isRefused = try await eventually {
                asking.process.standardError.contains(refusal)
            }
            #expect(isRefused)
            #expect(!silent.process.standardError.contains(refusal))
            let metrics = try await silent.request(.GET, "/metrics").body
            #expect(!metrics.contains("securepush_outcome_requests_total{"))
            let status = try await services.status(id)
            #expect(status.Status == "dispatched" && status.outcomes.isEmpty)
            for dispatcher in [silent, asking] { try await dispatcher.drain() }
        }
    }
}
