import Foundation
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// Devices of the SDK (`securepush device`) behind the hub emulator: the tutorial's flow.
@Suite("Devices of the SDK", .serialized, .broker, .timeLimit(.minutes(5)))
struct ClientDeviceTests {
    private static let platforms = ["apple", "fcmv1", "windows"]
    private static let secret = "Your results are in."
    private static let prompt = "You have a new message. Log in to read it."

    /// The services around an emulator, and devices of alice.
    private struct Devices {
        let stack: Stack
        let ingest: RunningService
        let dispatcher: RunningService
        let emulator: RunningService
        let environment: [String: String]

        init(_ stack: Stack, dispatcher settings: [String: String] = [:]) async throws {
            self.stack = stack
            let (emulator, connection) = try await stack.startEmulator()
            let hub = ["HUB_CONNECTION_STRING": connection]
            ingest = try await stack.start("ingest", hub)
            dispatcher = try await stack.start("dispatcher", hub.merging(settings) { $1 })
            let retrieval = try await stack.start("retrieval", hub)
            self.emulator = emulator
            environment = [
                "RETRIEVAL_URL": "http://127.0.0.1:\(retrieval.port)",
                "HUB_EMULATOR_URL": "http://127.0.0.1:\(emulator.port)",
                "RETRIEVAL_TOKEN": stack.token(of: "alice"),
            ]
            try await expectReady(ingest, dispatcher)
        }

        /// Starts a device, and waits until it listens.
        func start(_ platform: String, _ arguments: String...) async throws -> ProcessUnderTest {
            let device = try stack.run(
                "securepush",
                ["device", "--user", "alice", "--platform", platform, "--timeout", "90s"] + arguments, environment)
            let isListening = try await eventually {
                device.standardError.contains(" listening ") || !device.isRunning
            }
            #expect(isListening && device.isRunning, "\(device.standardError)")
            return device
        }

        func send(_ presentation: String = "silent") async throws {
            let answer = try await ingest.request(
                .POST, "/api/notifications", bearer: stack.apiKey,
                body: #"{"Recipient":"alice","Payload":"\#(secret)","Presentation":"\#(presentation)"}"#)
            #expect(answer.status == 201, "\(answer.body)")
        }

        private struct Message: Decodable {
            let Kind: String
            let Body: String
        }

        /// The bodies that crossed the hub.
        func pushes() async throws -> [String] {
            let messages: [Message] = try await emulator.request(.GET, "/emulator/messages").decoded()
            return messages.filter { $0.Kind == "send" }.map(\.Body)
        }
    }

    /// The secrets that a device has shown.
    private static func shown(_ device: ProcessUnderTest) -> [String] {
        device.standardOutput.split(separator: "\n").compactMap { line in
            line.firstRange(of: " shows       ").map { String(line[$0.upperBound...]) }
        }
    }

    @Test(arguments: ["silent", "alert"])
    func `The secret is shown on every platform`(_ presentation: String) async throws {
        try await withStack { stack in
            let devices = try await Devices(stack)
            var running: [ProcessUnderTest] = []
            for platform in Self.platforms { running.append(try await devices.start(platform, "--count", "1")) }
            try await devices.send(presentation)
            for device in running {
                #expect(try await device.exitCode(within: .seconds(60)) == 0, "\(device.standardError)")
                #expect(Self.shown(device) == [Self.secret])
            }
            let pushes = try await devices.pushes()
            #expect(pushes.count == 3)
            #expect(!pushes.contains { $0.contains("results") })
            #expect(running[0].standardOutput.contains("(\(presentation) push)"))
        }
    }

    @Test(arguments: [true, false])
    func `Without valid credentials the prompt is shown, and the secret after the log-in`(_ isExpired: Bool)
        async throws
    {
        try await withStack { stack in
            let devices = try await Devices(stack)
            let file = stack.folder.appending(path: "expired.token")
            try Data(stack.token(of: "alice", validFor: -120).utf8).write(to: file)
            let device =
                isExpired
                ? try await devices.start(
                    "apple", "--count", "1", "--login-after", "500ms", "--fetch-token-file", file.path)
                : try await devices.start("apple", "--count", "1", "--login-after", "500ms")
            try await devices.send()
            #expect(try await device.exitCode(within: .seconds(60)) == 0, "\(device.standardError)")
            let reason = isExpired ? "the server answered 401, SP-401" : "nobody is logged in, SP-LOGIN"
            #expect(Self.shown(device) == ["\(Self.prompt)  (\(reason))", Self.secret])
            #expect(device.standardError.contains("logged in"))
        }
    }

    @Test func `What one device has read disappears from the others`() async throws {
        try await withStack { stack in
            // Without push keys a device asks the server first, and keeps what is not revoked.
            let key = stack.folder.appending(path: "push.pem").path
            let keys = stack.folder.appending(path: "push.json").path
            let made = try stack.run(
                "securepush",
                [
                    "keys", "generate", "--push", "--push-signing-key-file", key, "--push-verification-keys-file", keys,
                ], [:])
            #expect(try await made.exitCode(within: .seconds(60)) == 0, "\(made.standardError)")
            let devices = try await Devices(
                stack, dispatcher: ["DISPATCH_WITHDRAW": "read", "PUSH_SIGNING_KEY_FILE": key])
            let reader = try await devices.start("apple", "--login-after", "1s", "--push-keys-file", keys)
            var others: [ProcessUnderTest] = []
            for platform in ["fcmv1", "windows"] {
                others.append(try await devices.start(platform, "--login-after", "1h", "--push-keys-file", keys))
            }
            try await devices.send()
            let areGone = try await eventually {
                others.allSatisfy { $0.standardOutput.contains(" removed ") }
            }
            #expect(areGone, "\(others.map(\.standardOutput))")
            for other in others { #expect(Self.shown(other).count == 1) }
            #expect(Self.shown(reader).last == Self.secret)
            // Each platform accepted the push, so each gets the withdrawal.
            let areAllThere = try await eventually { try await devices.pushes().count >= 6 }
            #expect(areAllThere)
            let pushes = try await devices.pushes()
            #expect(pushes.count { $0.contains("withdraw") } == 3)
            #expect(pushes.count == 6)
        }
    }
}
