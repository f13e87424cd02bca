import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SecurePushCore
import Synchronization
import TestSupport
import Testing

/// A hub that takes every send, after a while if it is to be slow, and remembers each with its headers and its body.
final class HubStub: Sendable {
    struct Send: Sendable {
        /// Names in lower case.
        var headers: [String: String]
        var body: String

        var format: String { headers["servicebusnotification-format"] ?? "" }
        var tag: String { headers["servicebusnotification-tags"] ?? "" }

        /// The ID in the body.
        var id: NotificationID? {
            if let id = NotificationID(body) { return id }
            guard let name = body.firstRange(of: #""secureId":""#) else { return nil }
            return NotificationID(String(body[name.upperBound...].prefix(36)))
        }
    }

    private let state = Mutex<[Send]>([])
    private let listeningPort = Mutex(0)

    /// 0 until it listens.
    var port: Int { listeningPort.withLock { $0 } }

    var sends: [Send] { state.withLock { $0 } }

    /// As it is copied from a hub's portal page.
    var connectionString: String {
        "Endpoint=http://127.0.0.1:\(port);SharedAccessKeyName=Test;SharedAccessKey=MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMQ=="
    }

    /// The platforms on which each ID has arrived, however often.
    var platforms: [NotificationID: Set<String>] {
        sends.reduce(into: [:]) { found, send in
            if let id = send.id { found[id, default: []].insert(send.format) }
        }
    }

    /// Whether every one of the IDs has arrived on all three platforms.
    func has(_ ids: [NotificationID]) -> Bool {
        let platforms = platforms
        return ids.allSatisfy { platforms[$0]?.count == 3 }
    }

    fileprivate func listens(_ port: Int) { listeningPort.withLock { $0 = port } }

    fileprivate func take(_ headers: HTTPFields, _ body: ByteBuffer) {
        let pairs = headers.map { ($0.name.canonicalName, $0.value) }
        let send = Send(headers: Dictionary(pairs) { first, _ in first }, body: String(buffer: body))
        state.withLock { $0.append(send) }
    }
}

/// Runs a hub for the time of the body.
///
/// - Parameter latency: how long it takes for each send.
func withHubStub(latency: Duration, _ body: (HubStub) async throws -> Void) async throws {
    let stub = HubStub()
    let router = Router()
    router.post("/hub/messages") { request, _ in
        let bytes = try await request.body.collect(upTo: 1 << 20)
        if latency > .zero { try await Task.sleep(for: latency) }
        stub.take(request.headers, bytes)
        return Response(status: .created)
    }
    let application = Application(
        router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { stub.listens($0.localAddress?.port ?? 0) },
        logger: Logger(label: "hub") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { try await application.run() }
    defer { running.cancel() }
    try #require(try await eventually { stub.port != 0 })
    try await body(stub)
}
