import SecurePushClient
import SecurePushCore

/// A user's device: an app of the Swift SDK, whose push channel is at the hub emulator.
struct SimulatedDevice: Sendable {
    let device: PushDevice
    let client: SecurePushClient
    let screen: DeviceScreen
    let session: DeviceSession
    let channel: PushChannel
    let logIn: LogIn
    let report: @Sendable (DeviceEvent) -> Void

    /// How the user is logged in.
    struct LogIn: Sendable {
        /// The user's credentials. The registration and the log-in use them.
        var credentials: ClientCredentials
        /// The credentials of fetches until the log-in; `nil` if nobody is logged in.
        var first: ClientCredentials?
        /// From the first prompt to the log-in; `nil` if the user does not log in.
        var delay: Duration?
    }

    /// Registers the device, and logs out if the log-in comes later.
    ///
    /// - Throws: ``CommandFailure``.
    func register(at retrieval: APIClient) async throws {
        session.use(logIn.credentials)
        let id = try await client.register(device, at: retrieval)
        report(DeviceEvent(.registered, text: id))
        session.use(logIn.first)
    }

    /// Removes the device from the server. Ignores errors: the process ends.
    func unregister() async {
        session.use(logIn.credentials)
        try? await client.unregister()
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
            return
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
