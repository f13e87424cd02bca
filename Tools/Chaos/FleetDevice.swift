import ChaosChecker
import Foundation
import SecurePushClient
import StackKit

/// One device of a user: an app of the Swift SDK. All that it fetches and shows goes into the history.
struct FleetDevice: Sendable {
    let name: String
    let user: String
    let platform: String
    let handle: String
    let client: SecurePushClient
    let screen: HistoryScreen
    private let transport: HistoryTransport
    private let token: String
    private let url: URL
    /// What a push service has made: `handle` is its ID then.
    private let made: FakePushService.Device?

    /// A device of a user, who has several.
    init(
        user: String, device: PushServicesBackend.Device, place: Int, stack: Stack, history: HistoryWriter
    ) throws {
        try self.init(
            user: user, platform: device.platform, handle: device.made.id,
            name: "\(user)/\(device.platform)-\(place)", made: device.made, stack: stack, history: history)
    }

    /// - Throws: ``Stack/NotStarted``, `PushKeySet.Malformed`.
    init(
        user: String, platform: String, handle: String, name: String? = nil,
        made: FakePushService.Device? = nil, stack: Stack, history: HistoryWriter
    ) throws {
        let name = name ?? "\(user)/\(platform)"
        self.name = name
        self.made = made
        (self.user, self.platform, self.handle) = (user, platform, handle)
        token = stack.secrets.token(of: user)
        let port = stack.retrievals[0].port
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw Stack.NotStarted(description: "\(port) is no port.")
        }
        self.url = url
        screen = HistoryScreen(device: name, history: history)
        transport = HistoryTransport(
            device: name, user: user, port: port, http: stack.http, secrets: stack.secrets, history: history)
        let keys = stack.options.sign ? try PushKeySet(jwkSet: Data(stack.secrets.pushKeys.utf8)) : nil
        var configuration = SecurePushConfiguration(retrievalURL: url, pushKeys: keys)
        // A device may get every notification of the run, and must show none of them twice.
        configuration.limits.maxRememberedIDs = max(1000, stack.options.count)
        client = SecurePushClient(
            configuration: configuration,
            credentials: FixedCredentialsProvider(userName: user, credentials: .bearer(token)),
            store: MemoryClientStore(), transport: transport, presenter: screen)
    }

    func register() async throws {
        if let made, platform == "browser" { return try await register(made) }
        let platforms: [String: PushDevice.Platform] = ["apple": .apns, "fcmv1": .fcmv1, "windows": .wns]
        try await client.register(PushDevice(platform: platforms[platform] ?? .apns, channel: made?.handle ?? handle))
    }

    /// As the web SDK does it: the Swift SDK knows no browsers.
    private func register(_ subscription: FakePushService.Device) async throws {
        let channel = [
            "endpoint": subscription.handle, "p256dh": subscription.p256dh ?? "", "auth": subscription.auth ?? "",
        ]
        var request = TransportRequest(method: "PUT", url: url.appending(path: "api/installations/\(UUID())"))
        request.headers["Authorization"] = "Bearer \(token)"
        request.body = try JSONSerialization.data(withJSONObject: ["platform": "browser", "pushChannel": channel])
        let answer = try await transport.send(request, timeout: 30, maxBytes: 1 << 20)
        guard answer.status == 200 else { throw Stack.NotStarted(description: "retrieval answers \(answer.status)") }
    }

    /// A native body as the device's system hands it to the app.
    func push(_ body: String) -> IncomingPush {
        if platform == "windows" { return IncomingPush(raw: body) }
        if platform == "browser" { return IncomingPush(json: Data(body.utf8)) }
        let object = (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        if platform == "apple" { return IncomingPush(userInfo: object) }
        let data = (object["message"] as? [String: Any])?["data"] as? [String: String]
        return IncomingPush(data: data ?? [:])
    }

    /// Tries to read a notification of somebody else.
    func probe(_ id: PushID) async {
        var request = TransportRequest(method: "GET", url: url.appending(path: "api/notifications/\(id)"))
        request.headers["Authorization"] = "Bearer \(token)"
        _ = try? await transport.send(request, reason: .probe, timeout: 8, maxBytes: 1 << 20)
    }
}
