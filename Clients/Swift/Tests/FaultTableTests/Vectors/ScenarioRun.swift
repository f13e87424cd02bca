import Foundation
import SecurePushClient

#if os(Linux)
/// One scenario of the vectors: a device, its server, and its wakes.
///
/// Unchecked, because only the thread of the simulation touches it.
final class ScenarioRun: @unchecked Sendable {
    /// A case is not in the form that the README describes.
    struct Malformed: Error {}

    let name: String
    let clock = SimulatedClock()
    private let json: [String: Any]
    private let store: ScenarioStore
    private let screen = ScenarioScreen()
    private let transport: ScriptedTransport
    private let configuration: SecurePushConfiguration
    private(set) var wakes = 0
    private(set) var requests = 0
    private(set) var complaints: [String] = []
    /// What was seen in each wake, in the form of `expect`.
    private(set) var observations: [[String: Any]] = []

    init(_ json: [String: Any]) throws {
        guard let name = json["name"] as? String, let settings = json["configuration"] as? [String: Any],
            let url = (settings["retrievalUrl"] as? String).flatMap(URL.init(string:)),
            let date = json["dateMs"] as? Int,
            let rules = json["server"] as? [[String: Any]]
        else { throw Malformed() }
        self.name = name
        self.json = json
        clock.dateOffset = TimeInterval(date) / 1_000 - clock.uptime
        let keys = try (settings["pushKeys"] as? [String: Any]).map {
            try PushKeySet(jwkSet: try JSONSerialization.data(withJSONObject: $0))
        }
        configuration = SecurePushConfiguration(retrievalURL: url, pushKeys: keys)
        transport = try ScriptedTransport(rules, host: url.host ?? "", clock: clock)
        store = ScenarioStore()
        if let credentials = json["credentials"] as? [String: Any], let user = json["user"] as? String {
            store.credentials = StoredCredentials(
                userName: user, accessToken: credentials["accessToken"] as? String,
                expiresAt: (credentials["expiresAtMs"] as? Int).map { Double($0) / 1_000 },
                refreshToken: credentials["refreshToken"] as? String)
        }
    }

    func complain(_ text: String) { complaints.append(text) }

    /// Runs all wakes.
    func all() async throws {
        guard let wakes = json["wakes"] as? [[String: Any]], let faults = json["faults"] as? [[String: Any]] else {
            throw Malformed()
        }
        var app = start()
        for (number, wake) in wakes.enumerated() {
            try await clock.sleep(for: TimeInterval(wake["afterMs"] as? Int ?? 0) / 1_000)
            if begin(faults.filter { $0["wake"] as? Int == number }) { app = start() }
            let begin = clock.uptime
            let report = try await run(wake, app)
            let end = clock.uptime
            store.heal()
            let seen = await observation(report, begin, end, app.client)
            observations.append(seen)
            guard let expected = wake["expect"] as? [String: Any] else { throw Malformed() }
            compare(seen, expected, number)
            self.wakes += 1
        }
    }

    private typealias App = (client: SecurePushClient, credentials: TokenCredentialsProvider)

    /// Starts a process.
    private func start() -> App {
        let credentials = TokenCredentialsProvider(
            retrievalURL: configuration.retrievalURL, store: store, transport: transport, clock: clock)
        let client = SecurePushClient(
            configuration: configuration, credentials: credentials, store: store, transport: transport, clock: clock,
            presenter: screen)
        return (client, credentials)
    }

    /// Sets up a wake with its faults.
    ///
    /// - Returns: whether the process has started again.
    private func begin(_ faults: [[String: Any]]) -> Bool {
        transport.begin()
        screen.begin()
        var isNewProcess = false
        for fault in faults {
            let times = fault["times"] as? Int ?? .max
            switch fault["error"] as? String {
            case "unwritable": store.refusedWrites = times
            case "locked": store.isLocked = true
            case "damaged":
                store.damage()
                isNewProcess = true
            case "restarted": isNewProcess = true
            case "refused": screen.refusals = times
            default: clock.dateOffset += TimeInterval(fault["jumpMs"] as? Int ?? 0) / 1_000
            }
        }
        return isNewProcess
    }

    private func run(_ wake: [String: Any], _ app: App) async throws -> WakeReport {
        switch wake["kind"] as? String {
        case "push":
            guard let push = wake["push"] as? [String: String] else { throw Malformed() }
            return await app.client.handle(push: IncomingPush(data: push))
        case "object":
            guard let push = wake["push"] as? [String: Any] else { throw Malformed() }
            return await app.client.handle(push: IncomingPush(userInfo: push))
        case "catchUp": return await app.client.catchUp()
        case "logIn":
            guard let name = wake["userName"] as? String, let password = wake["password"] as? String else {
                throw Malformed()
            }
            try await app.credentials.logIn(userName: name, password: password)
            return await app.client.resumeAfterLogIn()
        default: throw Malformed()
        }
    }

    /// What was seen, in the form of `expect`.
    private func observation(
        _ report: WakeReport, _ begin: TimeInterval, _ end: TimeInterval, _ client: SecurePushClient
    ) async -> [String: Any] {
        func milliseconds(_ time: TimeInterval) -> Int { Int(((time - begin) * 1_000).rounded()) }
        var seen = screen.observation
        seen["completions"] = 1
        seen["completedAtMs"] = milliseconds(end)
        seen["code"] = report.code?.rawValue ?? NSNull()
        seen["result"] = "\(report.result)"
        seen["requests"] = transport.requests.map { request -> [String: Any] in
            var json = request.json
            json["atMs"] = milliseconds(request.time)
            return json
        }
        seen["waiting"] = await client.waiting().map(\.rawValue)
        requests += transport.requests.count
        return seen
    }

    private func compare(_ seen: [String: Any], _ expected: [String: Any], _ number: Int) {
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
            let (was, should) = (Self.text(seen[name] ?? NSNull()), Self.text(value))
            if was != should { complain("wake \(number), \(name) was \(was) and should be \(should)") }
        }
    }

    private static func text(_ value: Any) -> String {
        let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "?"
    }
}
#endif
