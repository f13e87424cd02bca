import ArgumentParser
import AsyncHTTPClient
import Domain
import Foundation
import NIOCore
import SecurePushClient
import ServiceConfiguration
import Synchronization

struct LoadTestCommand: SenderCommand {
    static let configuration = CommandConfiguration(
        commandName: "load-test",
        abstract: "Send many notifications through a running system and measure throughput and latency.",
        discussion: """
            Sends 1 to 1,000,000 notifications to simulated users (load-000001, ...) or to one user, waits until the \
            hub has accepted the pushes, and prints rates and percentiles. Recipients with real devices get real \
            pushes.

            accept: from the start of a request to its response (with --batch: to the notification's response line). \
            With --rate from the time when the request was due, so that it includes delays by slow requests.

            dispatch: from acceptance to the hub's response for the last platform, according to the notifications' \
            records (CreatedAt and UpdatedAt), of up to 2,000 evenly distributed samples. The final statuses are \
            counted over all notifications.

            read: from acceptance (the time in the ID) to the payload on a simulated device. Needs --devices. The \
            devices are apps of the Swift SDK: each push is a fetch, a look into the inbox and a report.

            Without a terminal, a line on standard error reports each 10 % that were accepted and dispatched.

            Ctrl-C or SIGTERM ends the test early: nothing more is sent, the requests in flight get up to 10 s for \
            their responses, and the results so far follow. A second one does not wait. Exit codes: 0 everything was \
            accepted, dispatched and read; 1 anything was refused, failed or incomplete; 130 ended by a signal.

            EXAMPLES
              securepush load-test
              securepush load-test --count 100000 --rate 2000
              securepush load-test --count 1000000 --batch 1000 --no-wait --json
              securepush load-test --count 5000 --recipients 50 --devices 50 \\
                  --signing-key-file signing-key.pem
            """)

    @Option(help: ArgumentHelp("Number of notifications, 1 to 1,000,000.", valueName: "n"))
    var count = 1000

    @Option(help: ArgumentHelp("Notifications per second (default: no limit).", valueName: "n"))
    var rate: Int?

    @Option(
        help: ArgumentHelp("Concurrent requests, 1 to 1,024 (default: 64, or 4 with --batch).", valueName: "n"))
    var concurrency: Int?

    @Option(help: ArgumentHelp("Number of simulated users: load-000001 and so on.", valueName: "n"))
    var recipients = 100

    @Option(help: ArgumentHelp("Send everything to this user instead.", valueName: "name"))
    var to: String?

    @Option(help: ArgumentHelp("The length of each payload, 1 to 262,144.", valueName: "bytes"))
    var payloadSize = 100

    @Option(
        help: ArgumentHelp("apple, fcmv1, windows, ... Repeat it for more (default: all).", valueName: "name"),
        completion: .platforms)
    var platform: [String] = []

    @Option(
        help: ArgumentHelp("Use the batch route with this many notifications per request, 1 to 10,000.", valueName: "n")
    )
    var batch: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Wait until everything is dispatched and read by the devices, or exit after the last request (--no-wait)."
    )
    var wait = true

    @Option(help: ArgumentHelp("Stop waiting after this time without progress.", valueName: "duration"))
    var drainTimeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Simulated devices") var devices: LoadDeviceOptions
    @OptionGroup var sender: SenderOptions

    func validate() throws {
        try requireRange("--count", count, 1...1_000_000)
        try requireRange("--rate", rate, 1...1_000_000)
        try requireRange("--concurrency", concurrency, 1...1024)
        try requireRange("--recipients", recipients, 1...1_000_000)
        try requireRange("--payload-size", payloadSize, 1...262_144)
        try requireRange("--batch", batch, 1...10_000)
        try requireRange("--devices", devices.devices, 0...2000)
        if let to { try UserName.validate(to, of: "--to", as: "recipient") }
        if devices.devices > plan.recipientCount {
            throw ValidationError(
                "--devices must not be greater than --recipients: a recipient has at most one device.")
        }
        if let batch, batch * (payloadSize + 256) > LoadTestCommand.maxBatchBytes {
            throw ValidationError("A batch must not exceed 64 MiB. Use a smaller --batch or --payload-size.")
        }
        let known = DevicePlatform.allCases.map(\.rawValue)
        if devices.devices > 0, !platform.isEmpty, !platform.contains(where: known.contains) {
            throw ValidationError("Only devices of \(known.joined(separator: ", ")) can be simulated.")
        }
    }

    private static let maxBatchBytes = 64 << 20

    var plan: LoadPlan {
        LoadPlan(
            count: count, rate: rate, concurrency: concurrency ?? (batch == nil ? 64 : 4), batch: batch ?? 1,
            usesBatchRoute: batch != nil, recipients: recipients, recipient: to, payloadSize: payloadSize,
            platforms: platform, devices: devices.devices, waits: wait, drainTimeout: drainTimeout.duration)
    }
}

struct LoadDeviceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Number of recipients that get a simulated device.", valueName: "n"))
    var devices = 0

    @Option(
        help: ArgumentHelp(
            "Retrieval's key for signing tokens, to sign the devices' tokens (AUTH_TOKEN_SIGNING_KEY_FILE).",
            valueName: "file"), completion: .file(), transform: filePath)
    var signingKeyFile: String?

    @OptionGroup var emulator: EmulatorOptions
    @OptionGroup var retrieval: RetrievalOptions
}

extension LoadTestCommand {
    func run(on console: Console) async throws {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: httpConfiguration)
        let result: Result<LoadReport, any Error>
        do { result = .success(try await measure(http, console)) } catch { result = .failure(error) }
        try? await http.shutdown()
        let report = try result.get()
        try console.show(report, report.text(styled: console.styled).joined(separator: "\n"))
        if report.interrupted { throw ExitCode.interrupted }
        if !report.isSuccess { throw CommandFailure.Code.failed.exitCode }
    }

    /// A connection for each request in flight and each push channel, and some for polling and registering.
    private var httpConfiguration: HTTPClient.Configuration {
        var configuration = Network.current.configuration(
            idle: max(ingest.timeout.duration, Network.longestSilence))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            plan.concurrency + plan.devices + DispatchWatch.maxSamples + DeviceFleet.maxRemovals
        return configuration
    }

    private func measure(_ http: HTTPClient, _ console: Console) async throws -> LoadReport {
        var api = try ingest.client()
        api.http = http
        let message = try LoadMessage(plan)
        let target = HTTPLoadTarget(api: api, message: message)
        let measurements = LoadMeasurements(plan)
        let stop = StopRequest()
        let fleet = try fleet(http, payload: message.payload, measurements, console)
        let run = LoadRun(target: target, measurements: measurements, stop: stop, fleet: fleet)
        // Fails here, with any response accepted, if the service is unreachable.
        _ = try await api.send(.get, "/livez")
        let progress = LoadTestProgress(measurements: measurements, console: console)
        defer { progress.end() }
        _ = try await stop.attend(noticed: { measurements.interrupt() }) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await progress.run() }
                defer { group.cancelAll() }
                try await run.run()
            }
        }
        return LoadReport(measurements.snapshot, plan: plan, interrupted: stop.isRequested)
    }

    /// The simulated devices of the first recipients; `nil` for none.
    private func fleet(
        _ http: HTTPClient, payload: String, _ measurements: LoadMeasurements, _ console: Console
    ) throws -> DeviceFleet? {
        guard plan.devices > 0 else { return nil }
        var retrieval = try devices.retrieval.client(timeout: .seconds(10))
        var emulator = try devices.emulator.client(timeout: .seconds(10))
        (retrieval.http, emulator.http) = (http, http)
        let (option, key) = ("--signing-key-file", "AUTH_TOKEN_SIGNING_KEY_FILE")
        let keyFile = try Settings().path(devices.signingKeyFile, key, flag: option, "signing key")
        let tokens = try DeviceTokens(signingKeyFile: keyFile, of: devices.signingKeyFile == nil ? key : option)
        let configuration = try SecurePushConfiguration(retrieval)
        let wanted = platform.compactMap { DevicePlatform(rawValue: $0) }
        let platforms = wanted.isEmpty ? DevicePlatform.allCases : wanted
        let simulated = try (0..<plan.devices).map { index in
            let (user, platform) = (plan.name(ofRecipient: index), platforms[index % platforms.count])
            let credentials = try tokens.credentials(of: user)
            return SimulatedDevice(
                user: user, channel: PushChannel(platform: platform, handle: platform.makeHandle(), emulator: emulator),
                logIn: .init(credentials: credentials, first: credentials), configuration: configuration, http: http,
                screen: LoadScreen(payload: payload, measurements: measurements),
                report: { event in measurements.update { $0.reads.note(event) } })
        }
        return DeviceFleet(
            devices: simulated, retrieval: retrieval, emulator: emulator, removal: .unlessCancelled,
            tell: console.message)
    }
}

/// Shows the progress of a load test until it is cancelled: a line that is redrawn on a terminal, elsewhere a line for
/// each further 10 %.
private struct LoadTestProgress: Sendable {
    let measurements: LoadMeasurements
    let console: Console
    private let line = ProgressLine()
    private let milestones = Milestones()

    private final class Milestones: Sendable {
        let reached = Mutex((accepted: Milestone(), dispatched: Milestone()))
    }

    func run() async {
        while !Task.isCancelled {
            tell()
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    func end() {
        if !line.isShown { tell() }
        line.clear()
    }

    private func tell() {
        let now = measurements.progress
        guard !line.isShown else { return line.show(now.line) }
        let lines = milestones.reached.withLock { now.milestones(&$0.accepted, &$0.dispatched) }
        for line in lines { console.message(line) }
    }
}
