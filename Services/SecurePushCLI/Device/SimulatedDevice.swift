import AsyncHTTPClient
import SecurePushClient

/// A user's device: an app of the Swift SDK, whose push channel is at the hub emulator.
struct SimulatedDevice: Sendable {
    private let client: SecurePushClient
    private let screen: any DeviceDisplay
    private let session: DeviceSession
    private let channel: PushChannel
    private let logIn: LogIn
    private let retryAfter = RetryAfterNote()
    private let report: @Sendable (DeviceEvent) -> Void
    /// How the user answers; `nil` for not at all.
    var answers: DeviceAnswerOptions?

    /// How the user is logged in.
    struct LogIn: Sendable {
        /// The user's credentials. The registration and the log-in use them.
        var credentials: ClientCredentials
        /// The credentials of fetches until the log-in; `nil` if nobody is logged in.
        var first: ClientCredentials?
        /// From the first prompt to the log-in; `nil` if the user does not log in.
        var delay: Duration?
    }

    /// - Parameters:
    ///   - http: the connections to retrieval, which all devices share.
    ///   - report: called with each event that the user does not see, without the platform.
    init(
        user: String, channel: PushChannel, logIn: LogIn, configuration: SecurePushConfiguration, http: HTTPClient,
        screen: any DeviceDisplay, report: @escaping @Sendable (DeviceEvent) -> Void
    ) {
        (self.channel, self.logIn, self.screen, self.report) = (channel, logIn, screen, report)
        session = DeviceSession(user: user, credentials: logIn.credentials)
        client = SecurePushClient(
            configuration: configuration, credentials: session, store: MemoryClientStore(),
            transport: HTTPClientTransport(http: http, retryAfter: retryAfter), presenter: screen)
    }

    /// Registers the device, and logs out if the log-in comes later. A server that refuses for a time (429, 5xx) is
    /// asked again after its `Retry-After`, or after a wait that grows.
    ///
    /// - Throws: ``CommandFailure``.
    func register(at retrieval: APIClient, _ schedule: RetrySchedule = .registration) async throws {
        var schedule = schedule
        while true {
            do {
                let id = try await client.register(
                    PushDevice(platform: channel.platform.clientPlatform, channel: channel.handle))
                report(DeviceEvent(.registered, text: id))
                if let fingerprint = try? await client.encryptionKeyFingerprint {
                    report(DeviceEvent(.key, text: fingerprint))
                }
                return session.use(logIn.first)
            } catch let failure as SecurePushFailure {
                let reason = CommandFailure(failure, from: retrieval)
                guard failure.isTemporaryRefusal, let wait = schedule.next(retryAfter: retryAfter.wait) else {
                    throw reason
                }
                report(DeviceEvent(.waiting, reason: "\(reason.message) Tries again in \(wait.spoken)."))
                try await Task.sleep(for: wait)
            }
        }
    }

    /// Removes the device from the server.
    ///
    /// - Returns: whether the server has removed it, or never had it.
    func unregister() async -> Bool {
        session.use(logIn.credentials)
        return (try? await client.unregister()) == true
    }

    /// Receives pushes until a closure says after one that it is enough, or until cancelled.
    ///
    /// - Parameter isEnough: told how many notifications were shown.
    func run(until isEnough: @escaping @Sendable (Int) -> Bool) async throws {
        let (pushes, feed) = AsyncStream.makeStream(of: NativePush.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { feed.finish() }
                try await channel.receive {
                    report(DeviceEvent(.listening, text: channel.handle))
                } lost: {
                    report(DeviceEvent(.disconnected, reason: $0))
                } _: {
                    feed.yield($0)
                }
            }
            if let delay = logIn.delay {
                group.addTask {
                    try await logIn(after: delay)
                    if isEnough(screen.takeShown()) { feed.finish() }
                }
            }
            for await push in pushes {
                await handle(push)
                await answer()
                if isEnough(screen.takeShown()) { break }
            }
            if isEnough(0) || Task.isCancelled { return group.cancelAll() }
            try await group.waitForAll()
        }
    }

    private func logIn(after delay: Duration) async throws {
        for await _ in screen.prompts {
            try await Task.sleep(for: delay)
            session.use(logIn.credentials)
            report(DeviceEvent(.loggedIn))
            _ = await client.resumeAfterLogIn()
            await answer()
            return
        }
    }

    private func answer() async {
        let secrets = screen.takeSecrets()
        guard let answers else { return }
        for id in secrets {
            if let event = await answers.event(answering: id, by: client) { report(event) }
        }
    }

    private func handle(_ push: NativePush) async {
        if let id = push.push.id { report(DeviceEvent(.received, id: id.rawValue, kind: push.kind)) }
        if push.isForExtension { return await extend(push) }
        let result = await client.handle(push: push.push)
        guard result.result == .noData else { return }
        report(DeviceEvent(.ignored, id: push.push.id?.rawValue, reason: result.code?.rawValue ?? "nothing to show"))
    }

    /// Receives an alert as the system does: the service extension replaces its text.
    private func extend(_ push: NativePush) async {
        let handler = NotificationServiceHandler(client: client)
        let content = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                handler.didReceive(push.push) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            handler.timeWillExpire()
        }
        switch content.kind {
        case .secret(let secret): await screen.show(secret)
        case .generic(let notice): await screen.show(notice)
        case .prompt(let prompt): await screen.show(prompt)
        case .nothing:
            report(DeviceEvent(.ignored, id: push.push.id?.rawValue, reason: "nothing to show"))
        }
    }
}

extension SecurePushFailure {
    /// Whether the server answered that it cannot serve the request now.
    fileprivate var isTemporaryRefusal: Bool {
        guard let status = code.status else { return false }
        return status == 429 || (500...599).contains(status)
    }
}

protocol DeviceDisplay: NotificationPresenter {
    /// Tells each time that the user is asked to log in.
    var prompts: AsyncStream<Void> { get }

    /// How many notifications were shown since the last call.
    func takeShown() -> Int

    /// The secrets that were shown since the last call.
    func takeSecrets() -> [PushID]

    // These do not throw: nothing that a simulated device shows is lost.
    func show(_ secret: SecretNotification) async
    func show(_ notice: GenericNotice) async
    func show(_ prompt: LogInPrompt) async
}

extension DeviceDisplay {
    var prompts: AsyncStream<Void> { AsyncStream { $0.finish() } }
    func takeShown() -> Int { 0 }
    func takeSecrets() -> [PushID] { [] }
}
