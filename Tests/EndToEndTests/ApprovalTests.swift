import Foundation
import StackKit
import TestSupport
import Testing

/// An approval from `securepush send --wait answered` to its exit code, by devices of the SDK behind the hub emulator.
@Suite("Approvals", .serialized, .broker, .timeLimit(.minutes(5)))
struct ApprovalTests {
    /// Starts the services.
    private static func start(_ stack: Stack) async throws -> [String: String] {
        let (emulator, connection) = try await stack.startEmulator()
        let hub = ["HUB_CONNECTION_STRING": connection]
        let ingest = try await stack.start("ingest", hub)
        let dispatcher = try await stack.start("dispatcher", hub)
        let retrieval = try await stack.start("retrieval", hub)
        try await expectReady(ingest, dispatcher)
        return [
            "INGEST_URL": "http://127.0.0.1:\(ingest.port)", "INGEST_API_KEY": stack.apiKey,
            "RETRIEVAL_URL": "http://127.0.0.1:\(retrieval.port)",
            "HUB_EMULATOR_URL": "http://127.0.0.1:\(emulator.port)", "RETRIEVAL_TOKEN": stack.token(of: "alice"),
        ]
    }

    /// Starts a device of alice that answers, and waits until it listens.
    private static func device(
        _ platform: String, _ arguments: String..., in stack: Stack, _ environment: [String: String]
    ) async throws -> ProcessUnderTest {
        let device = try stack.run(
            "securepush",
            ["device", "--user", "alice", "--platform", platform, "--timeout", "90s", "--count", "1"] + arguments,
            environment)
        let isListening = try await eventually {
            device.standardError.contains(" listening ") || !device.isRunning
        }
        #expect(isListening && device.isRunning, "\(device.standardError)")
        return device
    }

    private static let question = [
        "send", "--to", "alice", "--title", "Deploy?", "--payload", "Version 2.1", "--answers", "approve,deny",
        "--challenge", "42", "--wait", "answered", "--wait-timeout", "60s",
    ]

    @Test(arguments: [("approve", "42", Int32(0)), ("deny", "42", 2)])
    func `The exit code is that of the answer`(_ answer: String, _ challenge: String, _ code: Int32) async throws {
        try await withStack { stack in
            let environment = try await Self.start(stack)
            let device = try await Self.device(
                "apple", "--answer", answer, "--challenge", challenge, "--answer-text", "By me.", in: stack, environment
            )
            let send = try stack.run("securepush", Self.question, environment)
            #expect(try await send.exitCode() == code, "\(send.standardError)")
            let lines = send.standardOutput.split(separator: "\n").map { String($0) }
            #expect(lines.count == 2 && lines.last == answer, "\(send.standardOutput)")
            #expect(try await device.exitCode() == 0, "\(device.standardError)")
            #expect(device.standardOutput.contains("Deploy?: Version 2.1"), "\(device.standardOutput)")
            let id = try #require(lines.first)
            let status = try stack.run("securepush", ["status", id], environment)
            #expect(try await status.exitCode() == 0)
            #expect(status.standardOutput.contains(#"\#(answer) "By me." at "#), "\(status.standardOutput)")
        }
    }

    @Test func `Two devices at once give one answer`() async throws {
        try await withStack { stack in
            let environment = try await Self.start(stack)
            let devices = [
                try await Self.device("apple", "--answer", "approve", "--challenge", "42", in: stack, environment),
                try await Self.device("fcmv1", "--answer", "deny", "--challenge", "42", in: stack, environment),
            ]
            let send = try stack.run("securepush", Self.question, environment)
            let code = try await send.exitCode()
            let answer = send.standardOutput.split(separator: "\n").last.map { String($0) }
            #expect((code, answer) == (0, "approve") || (code, answer) == (2, "deny"), "\(send.standardError)")
            for device in devices { _ = try await device.exitCode() }
            let refused = devices.filter { device in
                device.standardOutput.split(separator: "\n").contains {
                    $0.contains(" answered ") && $0.hasSuffix(")")
                }
            }
            #expect(refused.count == 1, "\(devices.map(\.standardOutput))")
        }
    }

    @Test func `A wrong challenge is no answer`() async throws {
        try await withStack { stack in
            let environment = try await Self.start(stack)
            let device = try await Self.device(
                "apple", "--answer", "approve", "--challenge", "24", in: stack, environment)
            let send = try stack.run("securepush", Self.question.dropLast() + ["3s"], environment)
            #expect(try await send.exitCode() == 1)
            #expect(send.standardError.contains("no answer"), "\(send.standardError)")
            #expect(try await device.exitCode() == 0, "\(device.standardError)")
        }
    }
}
