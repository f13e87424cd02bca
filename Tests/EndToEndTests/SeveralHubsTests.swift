import Domain
import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// Several hubs (`HUB_POOL_FILE`), as real processes: a third hub is added while the services run.
@Suite("Several hubs", .serialized, .broker, .timeLimit(.minutes(5)))
struct SeveralHubsTests {
    private static let two = ["hub-a", "hub-b"]
    private static let three = ["hub-a", "hub-b", "hub-c"]
    private static let users = (0..<12).map { "u\($0)" }

    private struct Record: Decodable {
        let Kind: String
        let Hub: String
        let Tags: String?
        let Outcome: String
        let Sequence: Int
    }

    private struct Share: Decodable {
        let ToMove: Int
    }

    private struct System {
        let stack: Stack
        let emulator: RunningService
        let ingest: RunningService
        let retrieval: RunningService
        let dispatcher: RunningService
        private let connection: String

        init(_ stack: Stack) async throws {
            self.stack = stack
            (emulator, connection) = try await stack.startEmulator()
            let path = stack.folder.appending(path: "hubs").path
            let settings = [
                "HUB_POOL_FILE": path, "HUB_CONNECTION_STRING": "", "HUB_NAME": "", "HUB_PLATFORMS": "fcmv1",
            ]
            try Self.write(SeveralHubsTests.two, connection, to: path)
            ingest = try await stack.start("ingest", settings)
            retrieval = try await stack.start("retrieval", settings)
            dispatcher = try await stack.start("dispatcher", settings)
            try await expectReady(ingest, dispatcher)
        }

        /// Writes the file of the hubs, in one step as an operator does.
        func write(_ hubs: [String], to name: String) throws {
            try Self.write(hubs, connection, to: stack.folder.appending(path: name).path)
        }

        private static func write(_ hubs: [String], _ connection: String, to path: String) throws {
            let text = hubs.map { "\($0) \(connection)\n" }.joined()
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }

        func register(_ user: String) async throws {
            let answer = try await retrieval.request(
                .PUT, "/api/installations/device-\(user)", bearer: stack.token(of: user),
                body: #"{"platform":"fcmv1","pushChannel":"handle-of-\#(user)"}"#)
            #expect(answer.status == 200, "\(answer.body)")
        }

        func remove(_ user: String) async throws {
            let answer = try await retrieval.request(
                .DELETE, "/api/installations/device-\(user)", bearer: stack.token(of: user))
            #expect((200..<300).contains(answer.status), "\(answer.body)")
        }

        func records(after sequence: Int = 0) async throws -> [Record] {
            try await emulator.request(.GET, "/emulator/messages?After=\(sequence)&Limit=10000").decoded()
        }

        /// Sends to each user, and expects each push at the user's hub, where the device is.
        func expectPushes(at hubs: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let last = try await records().last?.Sequence ?? 0
            for user in SeveralHubsTests.users { _ = try await ingest.post(#""secret""#, to: user, stack) }
            let isDone = try await eventually {
                try await records(after: last).count { $0.Kind == "send" } >= SeveralHubsTests.users.count
            }
            let sends = try await records(after: last).filter { $0.Kind == "send" }
            #expect(isDone && sends.count == SeveralHubsTests.users.count, sourceLocation: sourceLocation)
            let selection = HubSelection(hubs)
            for send in sends {
                let tag = try #require(send.Tags)
                #expect(send.Hub == selection.names[selection.position(of: tag)], sourceLocation: sourceLocation)
                #expect(send.Outcome == "Completed", "\(tag)", sourceLocation: sourceLocation)
            }
        }

        /// Runs `securepush hubs` and returns its standard output.
        func hubs(_ arguments: String...) async throws -> String { try await securepush(["hubs"] + arguments) }

        func securepush(_ arguments: [String]) async throws -> String {
            let process = try stack.run(
                "securepush", arguments,
                ["DATABASE_URL": stack.databaseURL, "HUB_POOL_FILE": stack.folder.appending(path: "hubs").path])
            #expect(try await process.exitCode(within: .seconds(60)) == 0, "\(process.standardError)")
            return process.standardOutput
        }
    }

    @Test(arguments: TestDatabase.allCases)
    func `A third hub is added without a missed push`(_ database: TestDatabase) async throws {
        try await withStack(database) { stack in
            let system = try await System(stack)
            for user in Self.users { try await system.register(user) }
            try await system.expectPushes(at: Self.two)
            #expect(try await system.hubs("rebalance").hasPrefix("put 0 of 12 devices"))

            // u3, u4, u8, u9 and u17 belong to the new hub.
            try system.write(Self.three, to: "hubs.new")
            try await system.register("u17")
            let new = stack.folder.appending(path: "hubs.new").path
            let dry = try await system.hubs("rebalance", "--dry-run", "--hub-pool-file", new)
            #expect(dry.hasPrefix("would put 5 of 13 devices"), "\(dry)")
            let copied = try await system.hubs("rebalance", "--copy-only", "--hub-pool-file", new)
            #expect(copied.hasPrefix("put 5 of 13 devices"), "\(copied)")
            try await system.expectPushes(at: Self.two)
            // Retrieval does not know the new hub yet.
            try await system.remove("u17")
            let isAtNewHub = try await !system.records().contains { $0.Kind == "unregister" && $0.Hub == "hub-c" }
            #expect(isAtNewHub)

            try system.write(Self.three, to: "hubs")
            // The dispatcher reads it within a second.
            let before = try await system.records().count { $0.Kind == "send" }
            var probes = 0
            let isFollowed = try await eventually {
                _ = try await system.ingest.post(#""probe""#, to: "u3", stack)
                probes += 1
                return try await system.records().contains { $0.Kind == "send" && $0.Hub == "hub-c" }
            }
            #expect(isFollowed)
            let areThrough = try await eventually {
                try await system.records().count { $0.Kind == "send" } == before + probes
            }
            #expect(areThrough)
            try await system.expectPushes(at: Self.three)
            // Retrieval follows the file too: a device that registers again moves at once.
            let areLeft = try await eventually {
                try await system.register("u9")
                let list: [Share] = try await system.hubs("list", "--json").split(separator: "\n").map {
                    try JSONDecoder().decode(Share.self, from: Data($0.utf8))
                }
                return list.map(\.ToMove).reduce(0, +) == 3
            }
            #expect(areLeft)
            // And it deletes the device at the new hub that was removed too early.
            let isDeleted = try await eventually {
                try await system.records().contains { $0.Kind == "unregister" && $0.Hub == "hub-c" }
            }
            #expect(isDeleted)

            let moved = try await system.hubs("rebalance")
            #expect(moved.hasPrefix("put 0 of 12 devices at their users' hubs; settled 3 "), "\(moved)")
            try await system.expectPushes(at: Self.three)
            let again = try await system.hubs("rebalance")
            #expect(again.hasPrefix("put 0 of 12 devices at their users' hubs; settled 0 "), "\(again)")
            let list = try await system.hubs("list", "--json")
            #expect(list.split(separator: "\n").count == 3 && !list.contains("SharedAccessKey"))
            #expect(list.contains(#""AtHub":4"#), "\(list)")
            let findings = try await system.securepush(["doctor"])
            for hub in Self.three { #expect(findings.contains("HUB_POOL_FILE (\(hub)): "), "\(findings)") }
            #expect(findings.contains("hubs, 3 hubs"), "\(findings)")
            for service in [system.dispatcher, system.retrieval] {
                #expect(!service.process.standardError.contains("SharedAccessKey="))
            }
        }
    }
}
