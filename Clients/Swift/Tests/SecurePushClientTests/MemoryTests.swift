#if os(Linux)
import Foundation
import Testing

@testable import SecurePushClient

/// Memory that the SDK adds to the process for a payload of 256 KiB, over the real transport and the file store.
///
/// Other suites run beside it in the same process and use memory too, so the measurement runs in a process of its own.
@Suite(.timeLimit(.minutes(1))) struct MemoryTests {
    @Test func aPayloadOf256KiBTakesAtMost12MiB() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdk-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            // Each character is escaped, so that the answer is as long as it can be.
            let secret = String(repeating: "\\u0001", count: 256 << 10)
            let answer = Data("{\"Id\":\"01\",\"Payload\":\"\(secret)\",\"Read\":false,\"Unread\":0}".utf8)
            let inbox = Data("{\"Notifications\":[],\"Unread\":0}".utf8)
            let server = try LoopbackServer { path in
                LoopbackServer.response("200 OK", body: path.contains("/01") ? answer : inbox)
            }
            let store = FileClientStore(folder: folder)
            let screen = RecordingPresenter()
            let client = SecurePushClient(
                configuration: SecurePushConfiguration(
                    retrievalURL: try #require(URL(string: "http://127.0.0.1:\(server.port)"))),
                credentials: FixedCredentialsProvider(userName: "alice", credentials: .bearer("t")), store: store,
                transport: URLSessionTransport(), presenter: screen)
            // What the system's libraries need once is not the payload's.
            _ = await client.catchUp()
            let before = try MemoryReading.resident()
            try MemoryReading.resetPeak()
            let report = await client.handle(push: IncomingPush(data: ["secureId": "01"]))
            let peak = try MemoryReading.peak()
            print("peak: \((peak - before) >> 10) KiB above \(before >> 10) KiB")
            guard report.shown.count == 1, peak - before <= 12 << 20 else { exit(1) }
        }
        if let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
}

/// The memory of this process, in bytes (proc(5)).
private enum MemoryReading {
    static func resident() throws -> Int { try field("VmRSS") }
    static func peak() throws -> Int { try field("VmHWM") }

    static func resetPeak() throws {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }

    private static func field(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name + ":") })
        return try #require(Int(line.filter(\.isNumber))) << 10
    }
}
#endif
