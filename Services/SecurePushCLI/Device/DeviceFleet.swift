import AsyncHTTPClient
import Authentication
import Foundation
import SecurePushClient
import SecurePushCore
import Synchronization

/// The devices of one `securepush device`.
struct DeviceFleet: Sendable {
    /// Concurrent registrations.
    static let maxRegistrations = 16
    /// Connections to retrieval.
    static let maxRequests = 64
    /// How long the devices may take to remove themselves at the end.
    static let farewell = Duration.seconds(3)

    let devices: [SimulatedDevice]
    let retrieval: APIClient
    /// Ends after this many notifications; `nil` for no limit.
    let limit: Int?
    /// Whether the devices disappear from the server at the end: nobody can use their handles again.
    let isTemporary: Bool

    /// Registers all devices and runs them until the limit is reached or it is cancelled.
    func run() async throws {
        do {
            try await register()
            try await listen()
        } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func register() async throws {
        try await Self.forEach(devices) { device in
            do {
                try await device.register()
            } catch let failure as SecurePushFailure {
                throw CommandFailure(failure, from: retrieval)
            }
        }
    }

    private func listen() async throws {
        let shown = ShownCount(limit: limit)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await device.run { shown.add($0) } } }
            // A device returns when it is enough for all of them.
            try await group.next()
            group.cancelAll()
        }
    }

    /// In a task of its own, because this one may be cancelled.
    private func leave() async {
        guard isTemporary else { return }
        await Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await Self.forEach(devices) { await $0.unregister() } }
                group.addTask { try? await Task.sleep(for: Self.farewell) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }

    /// Runs a closure for every element, a few of them concurrently.
    static func forEach<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, element) in elements.enumerated() {
                if index >= maxRegistrations { _ = try await group.next() }
                group.addTask { try await body(element) }
            }
            try await group.waitForAll()
        }
    }
}

/// Counts the notifications that all devices have shown.
final class ShownCount: Sendable {
    private let limit: Int?
    private let count = Mutex(0)

    init(limit: Int?) { self.limit = limit }

    /// - Returns: whether the limit is reached.
    func add(_ shown: Int) -> Bool {
        count.withLock { count in
            count += shown
            return limit.map { count >= $0 } ?? false
        }
    }
}

extension DeviceCommand {
    func run(on console: Console) async throws {
        // The channels stay open; requests share a few connections.
        let (channels, requests) = (
            HTTPClientTransport.makeClient(connections: deviceCount + DeviceFleet.maxRequests),
            HTTPClientTransport.makeClient(connections: DeviceFleet.maxRequests)
        )
        let end: RunEnd
        do {
            let fleet = try makeFleet(channels, requests, console)
            end = try await withInterruption(after: timeout?.duration) { try await fleet.run() }
        } catch {
            try? await channels.shutdown()
            try? await requests.shutdown()
            throw error
        }
        try? await channels.shutdown()
        try? await requests.shutdown()
        if end == .timedOut { throw CommandFailure(.failed, "The time limit of --timeout has expired.") }
    }

    private func makeFleet(_ channels: HTTPClient, _ requests: HTTPClient, _ console: Console) throws -> DeviceFleet {
        var emulator = try emulator.client(timeout: .seconds(10))
        emulator.http = channels
        let retrieval = try retrieval.client(timeout: .seconds(10))
        guard let url = URL(string: retrieval.baseURL) else {
            throw CommandFailure(.usage, "\(retrieval.baseURL.printable) is not a URL.")
        }
        let keys = try pushKeysFile.map(Self.pushKeys)
        let tokens = try signingKeyFile.map { try DeviceTokens(signingKeyFile: $0) }
        let fetchToken = try fetchTokenFile.map { ClientCredentials.bearer(try SecretFile.read($0)) }
        let listening = ListeningCount(of: deviceCount, console)
        let devices = try (0..<deviceCount).map { index in
            let (user, platform) = (user(of: index), platform[index % platform.count])
            let credentials = try tokens.map { try $0.credentials(of: user) } ?? userCredentials.credentials(of: user)
            let handle = handle ?? platform.makeHandle()
            let report = reporter(user, platform, listening, console)
            let full = ClientCredentials(credentials)
            let session = DeviceSession(user: user, credentials: full)
            let screen = DeviceScreen(
                handle: handle, emulator: emulator, countsPrompts: loginAfter == nil, report: report)
            let client = SecurePushClient(
                configuration: SecurePushConfiguration(retrievalURL: url, pushKeys: keys), credentials: session,
                store: MemoryClientStore(), transport: HTTPClientTransport(http: requests), presenter: screen)
            return SimulatedDevice(
                device: PushDevice(platform: platform.clientPlatform, channel: handle), client: client,
                screen: screen, session: session,
                channel: PushChannel(platform: platform, handle: handle, emulator: emulator),
                logIn: SimulatedDevice.LogIn(
                    credentials: full, first: fetchToken ?? (loginAfter == nil ? full : nil),
                    delay: loginAfter?.duration),
                report: report)
        }
        return DeviceFleet(devices: devices, retrieval: retrieval, limit: count, isTemporary: handle == nil)
    }

    private static func pushKeys(_ path: String) throws -> PushKeySet {
        do {
            return try PushKeySet(jwkSet: Data(try SecretFile.read(path).utf8))
        } catch is PushKeySet.Malformed {
            throw CommandFailure(.configuration, "\(path.printable) is not a JWK Set with an Ed25519 key.")
        }
    }

    /// Prints a device's events; of many devices those that concern their users.
    private func reporter(
        _ user: String, _ platform: DevicePlatform, _ listening: ListeningCount, _ console: Console
    ) -> @Sendable (DeviceEvent) -> Void {
        let isOne = deviceCount == 1
        return { event in
            var event = event
            event.platform = platform.rawValue
            if !isOne { event.user = user }
            if console.isJSON {
                try? console.show(event, "")
            } else if event.isData, isOne || event.event != .received {
                console.line(event.line)
            } else if isOne || [.disconnected, .loggedIn].contains(event.event) {
                console.message(event.line)
            } else if event.event == .listening {
                listening.note()
            }
        }
    }
}

/// Says once that all of several devices listen.
final class ListeningCount: Sendable {
    private let total: Int
    private let console: Console
    private let count = Mutex(0)

    init(of total: Int, _ console: Console) {
        self.total = total
        self.console = console
    }

    func note() {
        let isLast = count.withLock { count in
            count += 1
            return count == total
        }
        if isLast { console.message("all      listening   \(total.grouped) devices") }
    }
}

/// Signs tokens for the users of simulated devices, like retrieval.
struct DeviceTokens: Sendable {
    private let issuer: TokenIssuer

    init(signingKeyFile: String) throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = UserAuthenticationConfiguration(
            issuer: environment["AUTH_ISSUER"], audience: environment["AUTH_AUDIENCE"],
            signingKeyFile: signingKeyFile, tokenTTL: .seconds(86_400))
        issuer = try TokenIssuer.make(configuration, signingKeyFile)
    }

    func credentials(of user: String) throws -> Credentials {
        .bearer(try issuer.issue(to: try UserName.parse(user)).token)
    }
}
