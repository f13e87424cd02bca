import Foundation
import SecurePushClient
import SecurePushEnvelope
import Testing

#if os(Linux)
import Glibc

/// The peak memory of a wake, with the real transport against a server in another process. A service extension of a
/// recent device is killed at 24 MB.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MemoryTests {
    /// The longest encrypted payload: 190,000 bytes are 253,334 in base64url.
    @Test func anEncryptedPayloadNeedsAtMost12MB() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let payload = try await Self.seal(String(repeating: "x", count: 190_000), for: folder)
        let server = try Self.server(payload)
        defer { server.stop() }
        let (port, path) = (server.port, folder.path)
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            [port = port as UInt16, path = path as String] in
            let store = FileClientStore(folder: URL(fileURLWithPath: path))
            let client = try Self.client(port: port, store: store)
            _ = await client.client.handle(push: IncomingPush(userInfo: ["secureId": Self.small]))
            let warm = Memory()
            Memory.resetPeak()
            let report = await client.client.handle(push: IncomingPush(userInfo: ["secureId": Self.large]))
            let delta = Memory().peak - warm.resident
            #expect(report.shown.map(\.rawValue) == [Self.large])
            #expect(client.screen.length == 190_000)
            print("Memory, an envelope of \(190_000 * 4 / 3) bytes: peak \(delta) KiB above \(warm.resident) KiB.")
            #expect(delta <= 12 << 10)
        }
        show(result)
    }

    /// Registers a device, whose store is in the folder, and encrypts a text for it.
    private static func seal(_ text: String, for folder: URL) async throws -> String {
        let server = try Self.server("0")
        defer { server.stop() }
        let store = FileClientStore(folder: folder)
        let client = try Self.client(port: server.port, store: store).client
        let id = try await client.register(PushDevice(platform: .apns, channel: "AB"))
        let key = try #require(try await store.envelopeKey()).publicKey
        return try Envelope.seal(Data("\"\(text)\"".utf8), for: "alice", devices: [id: key])
    }

    /// The longest payload, and the longest JSON that it can have: each character as `\u00XX`.
    enum Payload: String, CaseIterable, Sendable {
        case plain, escaped

        var json: String {
            switch self {
            case .plain: String(repeating: "x", count: 256 << 10)
            case .escaped: String(repeating: "\\u0001", count: 256 << 10)
            }
        }
    }

    @Test(arguments: Payload.allCases)
    func aPayloadOf256KiBNeedsAtMost12MB(_ payload: Payload) async throws {
        let server = try Self.server("\"\(payload.json)\"")
        defer { server.stop() }
        let (port, name) = (server.port, payload.rawValue)
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            [port = port as UInt16, name = name as String] in
            let first = Memory()
            let client = try Self.client(port: port)
            _ = await client.client.handle(push: IncomingPush(userInfo: ["secureId": Self.small]))
            let warm = Memory()
            Memory.resetPeak()
            let report = await client.client.handle(push: IncomingPush(userInfo: ["secureId": Self.large]))
            let last = Memory()
            #expect(report.shown.map(\.rawValue) == [Self.large])
            #expect(client.screen.length == 256 << 10)
            let delta = last.peak - warm.resident
            print(
                """
                Memory, 256 KiB \(name): peak \(delta) KiB above the \(warm.resident) KiB before the wake; from the \
                start of the process, with the first use of URLSession, \(last.peak - first.resident) KiB.
                """)
            #expect(delta <= 12 << 10)
        }
        show(result)
    }

    static let small = "019aa4a2-1c9b-7000-8000-000000000001"
    static let large = "019aa4a2-1c9b-7000-8000-000000000002"

    private static func server(_ json: String) throws -> LoopbackServer {
        try LoopbackServer { path in
            if path.contains(small) { return Data(#"{"Id":"\#(small)","Payload":"hi","Read":false,"Unread":1}"#.utf8) }
            if path.contains(large) {
                return Data(#"{"Id":"\#(large)","Payload":\#(json),"Read":false,"Unread":0}"#.utf8)
            }
            return Data(#"{"Notifications":[],"Unread":0}"#.utf8)
        }
    }

    private static func client(
        port: UInt16, store: any ClientStore = MemoryClientStore()
    ) throws -> (client: SecurePushClient, screen: LengthPresenter) {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        let screen = LengthPresenter()
        let credentials = FixedCredentialsProvider(userName: "alice", credentials: .bearer("token"))
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(retrievalURL: url, encryptsEndToEnd: true),
            credentials: credentials,
            store: store, transport: URLSessionTransport(), presenter: screen)
        return (client, screen)
    }

    /// Keeps the length of the last secret and nothing else, like a system that copies it away.
    ///
    /// Unchecked, because the lock guards the length.
    private final class LengthPresenter: NotificationPresenter, @unchecked Sendable {
        private let lock = NSLock()
        private var value = 0

        var length: Int { lock.withLock { value } }

        func show(_ secret: SecretNotification) async throws { lock.withLock { value = secret.text.utf8.count } }
        func show(_ notice: GenericNotice) async throws {}
        func show(_ prompt: LogInPrompt) async throws {}
        func remove(_ ids: [PushID]) async {}
        func removePrompt() async {}
        func setBadge(_ count: Int) async {}
        func displayedSecrets() async -> Set<PushID>? { nil }
    }
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

    /// Sets the peak to what is resident now (proc_pid_clear_refs(5)).
    static func resetPeak() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }
}
#endif
