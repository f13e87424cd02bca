import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import StackKit
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
    private let unanswered = Mutex<[Send]>([])
    private let silentFormats = Mutex<Set<String>>([])
    private let status = Mutex(HTTPResponse.Status.created)
    private let listeningPort = Mutex(0)

    /// 0 until it listens.
    var port: Int { listeningPort.withLock { $0 } }

    /// The sends that were answered.
    var sends: [Send] { state.withLock { $0 } }

    /// The sends that were read and got no answer.
    var silentSends: [Send] { unanswered.withLock { $0 } }

    /// From now on sends of these formats are read and never answered; those that wait already are not answered either.
    func keepSilent(_ formats: Set<String>) { silentFormats.withLock { $0 = formats } }

    /// From now on every send is answered with this status.
    func answer(_ status: Int) { self.status.withLock { $0 = HTTPResponse.Status(code: status) } }

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

    /// - Returns: the status to answer with, or `nil` where nothing is to be answered.
    fileprivate func take(_ headers: HTTPFields, _ body: ByteBuffer) -> HTTPResponse.Status? {
        let pairs = headers.map { ($0.name.canonicalName, $0.value) }
        let send = Send(headers: Dictionary(pairs) { first, _ in first }, body: String(buffer: body))
        if silentFormats.withLock({ $0.contains(send.format) }) {
            unanswered.withLock { $0.append(send) }
            return nil
        }
        state.withLock { $0.append(send) }
        return status.withLock { $0 }
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
        guard let status = stub.take(request.headers, bytes) else {
            // Until the test ends: the connection stays open and carries nothing.
            while true { try await Task.sleep(for: .seconds(60)) }
        }
        return Response(status: status)
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
