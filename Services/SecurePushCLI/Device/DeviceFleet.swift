import Authentication
import Domain
import Foundation
import SecurePushClient
import Synchronization

struct DeviceFleet: Sendable {
    static let maxRegistrations = 16
    static let maxRequests = 64
    static let maxRemovals = 64
    /// How long the devices may take to remove themselves at the end. Nobody waits longer for Ctrl-C.
    static let farewell = Duration.seconds(10)

    /// When the devices are removed from the server at the end.
    enum Removal: Sendable { case always, unlessCancelled, never }

    let devices: [SimulatedDevice]
    let retrieval: APIClient
    let emulator: APIClient
    /// Ends after this many notifications; `nil` for no limit.
    var limit: Int?
    var removal = Removal.always
    /// Tells a person something about all devices.
    let tell: @Sendable (String) -> Void

    /// Registers all devices and runs them until the limit is reached, the closure returns, or it is cancelled. However
    /// it ends, the devices are removed from the server.
    ///
    /// - Parameter body: begins when all devices are registered; `nil` for none.
    func run(_ body: (@Sendable () async throws -> Void)? = nil) async throws {
        try await emulator.waitForEmulator { failure, wait in
            tell("\(failure.message) Tries again in \(wait.spoken).")
        }
        do {
            try await Self.forEach(devices) { try await $0.register(at: retrieval) }
        } catch {
            // The server may have a device whose answer was lost. Most often it has none, and there is nothing to tell.
            await leave(isSilent: true)
            throw error
        }
        do {
            try await listen(body)
        } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func listen(_ body: (@Sendable () async throws -> Void)?) async throws {
        let (shown, limit) = (DeviceCount(), limit ?? .max)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await device.run { shown.add($0) >= limit } } }
            if let body { group.addTask { try await body() } }
            // A device returns when it is enough for all of them.
            try await group.next()
            group.cancelAll()
        }
    }

    /// In a task of its own, because this one may be cancelled.
    private func leave(isSilent: Bool = false) async {
        if removal == .never || removal == .unlessCancelled && Task.isCancelled { return }
        let removed = DeviceCount()
        await Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    try? await Self.forEach(devices, atOnce: Self.maxRemovals) { device in
                        if await device.unregister() { removed.add(1) }
                    }
                }
                group.addTask { try? await Task.sleep(for: Self.farewell) }
                await group.next()
                group.cancelAll()
            }
        }.value
        if isSilent || removed.add(0) == devices.count { return }
        tell(
            devices.count == 1
                ? "The device could not be removed: \(retrieval.service) may still have its installation."
                : "Not all devices could be removed: \(retrieval.service) may still have some of their installations.")
    }

    /// Runs a closure for every element, a few of them concurrently.
    static func forEach<Element: Sendable>(
        _ elements: [Element], atOnce limit: Int = maxRegistrations,
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, element) in elements.enumerated() {
                if index >= limit { _ = try await group.next() }
                group.addTask { try await body(element) }
            }
            try await group.waitForAll()
        }
    }
}

/// Counts the events of all devices, such as the notifications that they have shown.
final class DeviceCount: Sendable {
    private let total = Atomic<Int>(0)

    /// - Returns: the new total.
    @discardableResult
    func add(_ number: Int) -> Int { total.add(number, ordering: .relaxed).newValue }
}

/// Signs tokens for the users of simulated devices, like retrieval.
struct DeviceTokens: Sendable {
    private let issuer: TokenIssuer

    /// - Parameter option: the option or the variable that names the file, for messages.
    init(signingKeyFile: String, of option: String) throws {
        let environment = Settings()
        let configuration = UserAuthenticationConfiguration(
            issuer: environment["AUTH_ISSUER"], audience: environment["AUTH_AUDIENCE"],
            signingKeyFile: signingKeyFile, tokenTTL: .seconds(86_400))
        issuer = try TokenIssuer.make(configuration, of: option)
    }

    func credentials(of user: String) throws -> ClientCredentials {
        .bearer(try issuer.issue(to: try UserName.parse(user)).token)
    }
}
