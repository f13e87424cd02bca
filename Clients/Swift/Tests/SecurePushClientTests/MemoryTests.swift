import Foundation
import SecurePushEnvelope
import Testing

@testable import SecurePushClient

#if os(Linux)
import Glibc

/// The peak memory of a wake, with the real transport and the file store. A service extension of a recent device is
/// killed at 24 MB.
///
/// The tests bound the growth: the difference between the peak of the wake and the memory before it. They also print
/// the peak of the whole process, without a bound. Most of that peak does not belong to the SDK: on Linux each process
/// has its own copy of Foundation, ICU, curl and the test library, and an earlier wake has loaded them. Apple's systems
/// share their libraries between processes and do not count them against the limit of an extension.
///
/// The server runs in this process. The SDK runs in a process of its own, where no other suite uses memory.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MemoryTests {
    /// The longest payloads: in JSON as it is, and with each character as `\u00XX`; and end-to-end encrypted, where
    /// 190,000 bytes are 253,334 characters of base64url.
    enum Payload: String, CaseIterable, Sendable {
        case plain, escaped, encrypted

        var length: Int {
            switch self {
            case .plain, .escaped: 256 << 10
            case .encrypted: 190_000
            }
        }

        /// - Parameter folder: that of the device's store.
        func json(forDeviceIn folder: String) async throws -> String {
            switch self {
            case .plain: "\"\(String(repeating: "x", count: length))\""
            case .escaped: "\"\(String(repeating: "\\u0001", count: length))\""
            case .encrypted: try await seal(String(repeating: "x", count: length), forDeviceIn: folder)
            }
        }

        /// Registers a device whose store is in the folder, and encrypts a text for it.
        private func seal(_ text: String, forDeviceIn folder: String) async throws -> String {
            let store = FileClientStore(folder: URL(fileURLWithPath: folder))
            let phone = try await SimulatedPhone(store: store) { $0.encryptsEndToEnd = true }
            let id = try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
            let key = try #require(try await store.envelopeKey()).publicKey
            return try Envelope.seal(Data("\"\(text)\"".utf8), for: "alice", devices: [id: key])
        }
    }

    @Test(arguments: Payload.allCases)
    func theLongestPayloadNeedsAtMost12MB(_ payload: Payload) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sdk-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let json = try await payload.json(forDeviceIn: folder.path)
        let answers = [
            Self.small: Data(#"{"Id":"\#(Self.small)","Payload":"hi","Read":false,"Unread":1}"#.utf8),
            Self.large: Data(#"{"Id":"\#(Self.large)","Payload":\#(json),"Read":false,"Unread":0}"#.utf8),
        ]
        let inbox = Data(#"{"Notifications":[],"Unread":0}"#.utf8)
        let server = try LoopbackServer { path in
            LoopbackServer.response("200 OK", body: answers.first { path.contains($0.key) }?.value ?? inbox)
        }
        let (port, path, name) = (server.port, folder.path, payload.rawValue)
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [port = port as UInt16, path = path as String, name = name as String] in
            let screen = RecordingPresenter()
            let client = SecurePushClient(
                configuration: SecurePushConfiguration(
                    retrievalURL: try #require(URL(string: "http://127.0.0.1:\(port)"))),
                credentials: FixedCredentialsProvider(userName: "alice", credentials: .bearer("token")),
                store: FileClientStore(folder: URL(fileURLWithPath: path)), transport: URLSessionTransport(),
                presenter: screen)
            let first = Memory()
            // The system's libraries need their memory once; the first wake is not measured.
            _ = await client.handle(push: IncomingPush(userInfo: ["secureId": Self.small]))
            let warm = Memory()
            Memory.resetPeak()
            let report = await client.handle(push: IncomingPush(userInfo: ["secureId": Self.large]))
            let last = Memory()
            #expect(report.shown.map(\.rawValue) == [Self.large])
            #expect(await screen.secrets[Self.large]?.utf8.count == Payload(rawValue: name)?.length)
            let growth = last.peak - warm.resident
            print(
                """
                Memory, 256 KiB \(name): the wake grew by \(growth) KiB at its peak (at most \(Self.maxGrowth)), from \
                \(warm.resident) KiB. The peak of the whole process was \(max(warm.peak, last.peak)) KiB. It had \
                \(first.resident) KiB before the SDK was used.
                """)
            #expect(growth <= Self.maxGrowth)
        }
        for content in [result?.standardOutputContent, result?.standardErrorContent] {
            if let content, !content.isEmpty { print(String(decoding: content, as: UTF8.self)) }
        }
    }

    /// 12 MB, in KiB.
    private static let maxGrowth = 12_000_000 / 1_024
    private static let small = "019aa4a2-1c9b-7000-8000-000000000001"
    private static let large = "019aa4a2-1c9b-7000-8000-000000000002"
}

/// The memory of this process, in KiB (proc_pid_status(5)).
private struct Memory {
    let resident: Int
    let peak: Int

    init() {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func value(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        }
        (resident, peak) = (value("VmRSS"), value("VmHWM"))
    }

    /// Sets the peak to the memory that is resident now (proc_pid_clear_refs(5)).
    static func resetPeak() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }
}
#endif
