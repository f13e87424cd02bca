import ArgumentParser
import AsyncHTTPClient
import Authentication
import Foundation
import NIOCore
import SecurePushCore
import ServiceConfiguration
import UnixSignals

struct LoadTestCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "load-test",
        abstract: "Push many notifications through a running system, and measure it.",
        discussion: """
            Sends 1 to 1,000,000 notifications to made-up users (load-000001, ...) or to one, waits until the hub has
            taken them, and prints rates and percentiles. Real pushes go out if the recipients have real devices.

            accept    from a request's begin to its answer (with --batch: to the notification's line of the answer).
                      With --rate from when it should have begun, so that waiting behind slow requests counts too.
            dispatch  from acceptance to the hub's answer for the last platform, as the notifications' own records
                      tell (CreatedAt and UpdatedAt): of up to 2,000 evenly chosen ones. That all have ended is counted
                      over the sender's whole list.
            read      from acceptance (the time in the ID) to the payload on a simulated device; needs --devices.

            Ctrl-C ends it early and prints what was measured. Exit code 1 when anything was refused, failed, or did
            not come to its end.

            EXAMPLES
              securepush load-test
              securepush load-test --count 100000 --rate 2000
              securepush load-test --count 1000000 --batch 1000 --no-wait --json
              securepush load-test --count 5000 --recipients 50 --devices 50 --signing-key-file signing-key.pem
            """)

    @Option(help: ArgumentHelp("How many notifications, 1 to 1,000,000.", valueName: "n"))
    var count = 1000

    @Option(help: ArgumentHelp("Begin so many a second; as fast as they are taken, when left out.", valueName: "n"))
    var rate: Int?

    @Option(help: ArgumentHelp("Requests under way at once, 1 to 1,024; 64, or 4 with --batch.", valueName: "n"))
    var concurrency: Int?

    @Option(help: ArgumentHelp("Users who take turns: load-000001 and so on.", valueName: "n"))
    var recipients = 100

    @Option(help: ArgumentHelp("One user instead.", valueName: "name"))
    var to: String?

    @Option(help: ArgumentHelp("The length of each payload, 1 to 262,144.", valueName: "bytes"))
    var payloadSize = 100

    @Option(
        help: ArgumentHelp("apple, fcmv1, windows, ...; repeat it for more. All, when left out.", valueName: "name"))
    var platform: [String] = []

    @Option(help: ArgumentHelp("Use the batch route with so many a request, 1 to 10,000.", valueName: "n"))
    var batch: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Wait until all were dispatched, and read by the devices; or end when all were sent (--no-wait).")
    var wait = true

    @Option(help: ArgumentHelp("Give up waiting when nothing moves for this time.", valueName: "duration"))
    var drainTimeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Simulated devices") var devices: LoadDeviceOptions
    @OptionGroup(title: "Service") var ingest: IngestOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    func validate() throws {
        try LoadTestCommand.check("--count", count, LoadPlan.counts)
        try LoadTestCommand.check("--rate", rate, 1...1_000_000)
        try LoadTestCommand.check("--concurrency", concurrency, 1...1024)
        try LoadTestCommand.check("--recipients", recipients, 1...1_000_000)
        try LoadTestCommand.check("--payload-size", payloadSize, 1...262_144)
        try LoadTestCommand.check("--batch", batch, 1...10_000)
        try LoadTestCommand.check("--devices", devices.devices, 0...LoadDeviceOptions.most)
        if let to, UserName(to) == nil {
            throw ValidationError("A recipient has 1 to 1,024 bytes and no control characters.")
        }
        if devices.devices > plan.recipientCount {
            throw ValidationError("Each recipient has one device at most: --devices is more than --recipients.")
        }
        if let batch, batch * (payloadSize + 256) > LoadTestCommand.maxBatchBytes {
            throw ValidationError("A batch has at most 64 MiB: take a smaller --batch or --payload-size.")
        }
        let known = DevicePlatform.allCases.map(\.rawValue)
        if devices.devices > 0, !platform.isEmpty, !platform.contains(where: known.contains) {
            throw ValidationError("Devices can be simulated for \(known.joined(separator: ", ")).")
        }
    }

    private static let maxBatchBytes = 64 << 20

    private static func check(_ flag: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError("\(flag) is \(range.lowerBound.grouped) to \(range.upperBound.grouped).")
    }

    /// What the flags ask for.
    var plan: LoadPlan {
        LoadPlan(
            count: count, rate: rate, concurrency: concurrency ?? (batch == nil ? 64 : 4), batch: batch ?? 1,
            usesBatchRoute: batch != nil, recipients: recipients, recipient: to, payloadSize: payloadSize,
            platforms: platform, devices: devices.devices, waits: wait, drainTimeout: drainTimeout.duration)
    }
}

/// The simulated devices of a load test.
struct LoadDeviceOptions: ParsableArguments {
    static let most = 2000

    @Option(
        help: ArgumentHelp("The first so many recipients have a device each that reads what it gets.", valueName: "n"))
    var devices = 0

    @Option(
        help: ArgumentHelp(
            "The key that retrieval signs tokens with, to sign the users' here (AUTH_TOKEN_SIGNING_KEY_FILE).",
            valueName: "file"))
    var signingKeyFile: String?

    @Option(help: ArgumentHelp("The hub emulator (HUB_EMULATOR_URL; http://127.0.0.1:8090).", valueName: "url"))
    var emulatorURL: String?

    @OptionGroup var retrieval: RetrievalOptions
}

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
