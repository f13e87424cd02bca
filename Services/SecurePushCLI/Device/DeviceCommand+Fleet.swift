import AsyncHTTPClient
import Foundation
import SecurePushClient
import SecurePushEnvelope

extension DeviceCommand {
    func run(on console: Console) async throws {
        var emulator = try emulator.client(timeout: .seconds(10))
        let retrieval = try retrieval.client(timeout: .seconds(10))
        // The channels stay open; requests share a few connections.
        let (channels, requests) = (
            HTTPClientTransport.makeClient(
                connections: deviceCount + DeviceFleet.maxRequests, to: emulator.baseURL),
            HTTPClientTransport.makeClient(connections: DeviceFleet.maxRequests, to: retrieval.baseURL)
        )
        emulator.http = channels
        let end: RunEnd
        do {
            let fleet = try makeFleet(emulator, retrieval, requests, console)
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

    private func makeFleet(
        _ emulator: APIClient, _ retrieval: APIClient, _ requests: HTTPClient, _ console: Console
    ) throws -> DeviceFleet {
        let configuration = try clientConfiguration(for: retrieval)
        let tokens = try signingKeyFile.map { try DeviceTokens(signingKeyFile: $0, of: "--signing-key-file") }
        let fetchToken = try fetchTokenFile.map {
            ClientCredentials.bearer(try SecretFile.read($0, of: "--fetch-token-file"))
        }
        let listening = DeviceCount()
        let devices = try (0..<deviceCount).map { index in
            let (user, platform) = (user(of: index), platform[index % platform.count])
            let credentials = try tokens.map { try $0.credentials(of: user) } ?? userCredentials.credentials(of: user)
            let handle = handle ?? platform.makeHandle()
            let report = reporter(user, platform, listening, console)
            let logIn = SimulatedDevice.LogIn(
                credentials: credentials, first: fetchToken ?? (loginAfter == nil ? credentials : nil),
                delay: loginAfter?.duration)
            let screen = DeviceScreen(
                handle: handle, emulator: emulator, countsPrompts: loginAfter == nil, report: report)
            var device = SimulatedDevice(
                user: user, channel: PushChannel(platform: platform, handle: handle, emulator: emulator), logIn: logIn,
                configuration: configuration, http: requests, screen: screen, report: report)
            device.answers = answering.answer == nil ? nil : answering
            return device
        }
        return DeviceFleet(
            devices: devices, retrieval: retrieval, emulator: emulator, limit: count, removal: keep ? .never : .always,
            tell: console.message)
    }

    private static func pushKeys(_ path: String) throws -> PushKeySet {
        do {
            return try PushKeySet(jwkSet: Data(try SecretFile.read(path, of: "--push-keys-file").utf8))
        } catch is PushKeySet.Malformed {
            throw CommandFailure(
                .configuration, "--push-keys-file: \(path.printable) is not a JWK Set with a key on P-256.")
        }
    }

    private static func senderKeys(_ path: String) throws -> SenderKeys {
        let set = Data(try SecretFile.read(path, of: "--sender-keys").utf8)
        guard let keys = try? SenderKeys(jwkSet: set) else {
            throw CommandFailure(
                .configuration, "--sender-keys: \(path.printable) is not a JWK Set with a public P-256 key.")
        }
        return keys
    }

    private func clientConfiguration(for retrieval: APIClient) throws -> SecurePushConfiguration {
        var configuration = try SecurePushConfiguration(retrieval, pushKeys: try pushKeysFile.map(Self.pushKeys))
        configuration.encryptsEndToEnd = encrypts || requireEncryption || senderKeys != nil
        configuration.senderKeys = try senderKeys.map(Self.senderKeys)
        configuration.requiresEncryption = requireEncryption
        return configuration
    }

    /// Prints a device's events; of many devices those that concern their users.
    private func reporter(
        _ user: String, _ platform: DevicePlatform, _ listening: DeviceCount, _ console: Console
    ) -> @Sendable (DeviceEvent) -> Void {
        let isOne = deviceCount == 1
        return { event in
            var event = event
            event.platform = platform.rawValue
            if !isOne { event.user = user }
            if console.isJSON || event.isData && (isOne || event.event != .received) {
                do {
                    try console.show(event, event.line)
                } catch {
                    // Ends the run as Ctrl-C does, so that the devices are removed. The failure is reported then.
                    kill(getpid(), SIGTERM)
                }
            } else if isOne || [.disconnected, .waiting, .loggedIn].contains(event.event) {
                console.message(event.line)
            } else if event.event == .listening, listening.add(1) == deviceCount {
                console.message("all      listening   \(deviceCount.grouped) devices")
            }
        }
    }
}
