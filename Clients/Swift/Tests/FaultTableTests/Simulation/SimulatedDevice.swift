import Foundation
import SecurePushClient

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A device, its user and the server. Processes come and go.
///
/// Unchecked, because only the thread of the simulation touches it.
final class SimulatedDevice: @unchecked Sendable {
    let clock = SimulatedClock()
    let disk = SimulatedDisk()
    let screen = SimulatedScreen()
    let server = SimulatedServer()
    /// One for all devices, because making keys takes longer than a wake.
    private static let key = P256.Signing.PrivateKey()
    /// Called completions of the service extension, by notification.
    private(set) var completions: [String: Int] = [:]

    init() { server.pushKeys = Self.jwkSet }

    /// The app or the extension: one process with a client of its own.
    struct App: Sendable {
        let process: SimulatedProcess
        let client: SecurePushClient
        let credentials: TokenCredentialsProvider
        let handler: NotificationServiceHandler
    }

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - lastPoint: the point at which it dies.
    ///   - faults: the faults in it; `nil`: none.
    func start(diesAt lastPoint: Int? = nil, faults: FaultPlan? = nil) throws -> App {
        let faults = faults ?? noFaults
        let process = SimulatedProcess(diesAt: lastPoint)
        let store = SimulatedStore(disk: disk, process: process, faults: faults)
        let transport = SimulatedTransport(server: server, clock: clock, process: process, faults: faults)
        let credentials = TokenCredentialsProvider(
            retrievalURL: SimulatedServer.url, store: store, transport: transport, clock: clock)
        let client = SecurePushClient(
            configuration: SecurePushConfiguration(
                retrievalURL: SimulatedServer.url, pushKeys: try PushKeySet(jwkSet: Self.jwkSet)),
            credentials: credentials, store: store, transport: transport, clock: clock,
            presenter: SimulatedPresenter(screen: screen, process: process, faults: faults))
        return App(
            process: process, client: client, credentials: credentials,
            handler: NotificationServiceHandler(client: client))
    }

    var noFaults: FaultPlan { FaultPlan(.none, at: .parse, length: .once, clock: clock, disk: disk) }

    /// The user logs in, in a process without faults.
    func logIn() async throws {
        let app = try start()
        try await app.credentials.logIn(userName: SimulatedServer.user, password: SimulatedServer.password)
    }

    /// A push of the server, signed now.
    func push(_ id: PushID, withdraw: Bool = false, extra: [String: Any] = [:]) throws -> [AnyHashable: Any] {
        let timestamp = String(Int(clock.date.timeIntervalSince1970))
        let text =
            "securepush-push-v1\n\(id)\n\(SimulatedServer.user)\n\(timestamp)\n" + (withdraw ? "withdraw\n" : "")
        var push: [AnyHashable: Any] = ["aps": ["content-available": 1], "secureId": id.rawValue, "ts": timestamp]
        push["sig"] = Self.base64URL(try Self.key.signature(for: Data(text.utf8)).rawRepresentation)
        if withdraw { push["withdraw"] = "1" }
        return push.merging(extra.map { ($0.key as AnyHashable, $0.value) }) { _, new in new }
    }

    /// The withdrawals that follow when secrets were fetched (`DISPATCH_WITHDRAW=read`) arrive, each in this process.
    func echoReads(in app: () throws -> App) async throws {
        for id in server.read {
            _ = await (try app()).client.handle(push: IncomingPush(userInfo: try push(id, withdraw: true)))
        }
    }

    /// Handles an alert as the system does. The user sees the content of the extension's completion.
    ///
    /// - Parameter expiresAfter: after this time the system calls `timeWillExpire`.
    /// - Returns: the seconds until the first completion.
    func receiveAlert(
        _ push: [AnyHashable: Any], in app: App, name: String, expiresAfter limit: TimeInterval = 30
    ) async -> TimeInterval {
        let begin = clock.uptime
        let incoming = IncomingPush(userInfo: push)
        let timer = Task { [clock] in
            try await clock.sleep(for: limit)
            app.handler.timeWillExpire()
        }
        // Unsafe, because a process that dies never completes.
        let content = await withUnsafeContinuation { (continuation: UnsafeContinuation<ServiceContent, Never>) in
            app.handler.didReceive(incoming) { content in
                // A dead process completes nothing.
                if app.process.isDead { return }
                self.completions[name, default: 0] += 1
                if self.completions[name] == 1 { continuation.resume(returning: content) }
            }
        }
        timer.cancel()
        screen.show(content)
        return clock.uptime - begin
    }

    private static var jwkSet: Data {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (base64URL(point.prefix(32)), base64URL(point.suffix(32)))
        return Data(#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}]}"#.utf8)
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
