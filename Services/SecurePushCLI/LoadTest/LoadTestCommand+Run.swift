import ArgumentParser
import AsyncHTTPClient
import Authentication
import Foundation
import NIOCore
import SecurePushCore
import ServiceConfiguration
import UnixSignals

extension LoadTestCommand {
    func run(on console: Console) async throws {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: httpConfiguration)
        do {
            try await run(on: console, http)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }

    /// As many connections as requests under way and push channels, and some for what else is asked.
    private var httpConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(tlsConfiguration: OutgoingTLS.configuration)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            plan.concurrency + plan.devices + DispatchWatch.samplesAtOnce + LoadDevices.registrationsAtOnce
        // A service that is away is to be counted as that, not waited for.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(10)
        return configuration
    }

    private func run(on console: Console, _ http: HTTPClient) async throws {
        var api = try ingest.client()
        api.http = http
        let message = try LoadMessage(plan)
        let target = HTTPLoadTarget(
            api: api, authorization: try ingest.credentials().authorization, message: message)
        let ledger = LoadLedger(plan)
        let devices = try loadDevices(http, payload: message.payload, ledger)
        // Any answer will do: this tells a service that is away from one that fails under load.
        _ = try await api.send(.get, "/livez")
        let stop = StopRequest()
        let run = LoadRun(target: target, ledger: ledger, stop: stop, devices: devices)
        try await LoadTestCommand.attend(run, ledger: ledger, stop: stop)
        let report = LoadReport(ledger.snapshot, plan: plan, interrupted: stop.isRequested)
        try console.show(report, report.text(styled: console.styled).joined(separator: "\n"))
        if !report.isSuccess { throw ExitCode(CommandFailure.Code.failed.rawValue) }
    }

    /// Runs the test with its progress shown. The first Ctrl-C ends it early, a second one at once.
    private static func attend(_ run: LoadRun, ledger: LoadLedger, stop: StopRequest) async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let progress = ProgressLine()
        defer { progress.clear() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await run.run()
                return true
            }
            group.addTask {
                for await _ in signals where !stop.request() { return true }
                return false
            }
            if progress.isShown {
                group.addTask {
                    while !Task.isCancelled {
                        progress.show(ledger.update { LoadProgress($0, plan: ledger.plan, now: .now) }.line)
                        try? await Task.sleep(for: .milliseconds(200))
                    }
                    return false
                }
            }
            defer { group.cancelAll() }
            while let isOver = try await group.next() { if isOver { return } }
        }
    }

    private func loadDevices(_ http: HTTPClient, payload: String, _ ledger: LoadLedger) throws -> LoadDevices? {
        guard plan.devices > 0 else { return nil }
        let environment = ProcessInfo.processInfo.environment
        var retrieval = try devices.retrieval.client(timeout: .seconds(10))
        var emulator = try APIClient(
            service: "hub-emulator",
            url: devices.emulatorURL ?? environment["HUB_EMULATOR_URL"] ?? "http://127.0.0.1:8090",
            timeout: .seconds(10))
        retrieval.http = http
        emulator.http = http
        let keyFile = try FileOption.path(
            devices.signingKeyFile, "AUTH_TOKEN_SIGNING_KEY_FILE", flagName: "--signing-key-file")
        let configuration = UserAuthenticationConfiguration(
            issuer: environment["AUTH_ISSUER"], audience: environment["AUTH_AUDIENCE"], signingKeyFile: keyFile,
            tokenTTL: .seconds(86_400))
        guard let tokens = try TokenIssuer(configuration: configuration) else {
            throw CommandFailure(.configuration, "\(keyFile) holds no signing key")
        }
        let wanted = platform.compactMap { DevicePlatform(rawValue: $0) }
        let platforms = wanted.isEmpty ? DevicePlatform.allCases : wanted
        let simulated = try (0..<plan.devices).map { index in
            let platform = platforms[index % platforms.count]
            let user = try UserName.parse(plan.name(ofRecipient: index))
            return LoadDevices.Device(
                platform: platform, handle: platform.makeHandle(),
                authorization: Credentials.bearer(try tokens.issue(to: user).token).authorization)
        }
        return LoadDevices(
            devices: simulated, retrieval: retrieval, emulator: emulator, payload: payload, ledger: ledger)
    }
}
