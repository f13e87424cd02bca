import Foundation

/// Receives secrets: verifies pushes, fetches, shows each secret once, and keeps the device registered.
///
/// Everything that it uses is injected. Make one per process; the app and its service extension share the store.
public actor SecurePushClient {
    /// The version of this SDK. The server gets it with the report of what was shown.
    public static let version = "0.2.0-alpha.1"

    let configuration: SecurePushConfiguration
    let credentials: any CredentialsProvider
    let store: any ClientStore
    let clock: any ClientClock
    let presenter: any NotificationPresenter
    let keeper: StateKeeper
    /// Limits the time of each call of the store.
    let limit: CallLimit
    /// Limits the time of the question for the user's name.
    private let userNameLimit: CallLimit
    let connection: RetrievalConnection
    /// Names this client in the claims of the store. Another process has another name.
    let process = UUID().uuidString
    /// The notifications that are being fetched or shown now.
    var inFlight: Set<PushID> = []
    /// The catch-up that runs now or was the last.
    var catchUpRun: CatchUpRun?
    /// The last registration or unregistration.
    var lastRegistration: Task<Void, Never>?
    /// Whether a wake reports shown notifications now.
    var isReporting = false
    /// Whether a wake confirms withdrawals now.
    var isConfirming = false
    /// Whether a wake tells the server of log-outs now.
    var isDelivering = false
    /// Whether a wake reads the server's keys for pushes now.
    var isRefreshingPushKeys = false
    /// The last number that was set on the app's icon.
    var badge: Int?
    /// Counts the wakes.
    private var wakes = 0

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - configuration: the server and the app.
    ///   - credentials: the user's credentials.
    ///   - store: the memory between wakes.
    ///   - transport: sends the requests.
    ///   - clock: the time.
    ///   - presenter: shows the notifications. `nil`: a ``UserNotificationPresenter`` on Apple's systems. Elsewhere
    ///     nothing is shown, and a secret that was fetched counts as shown.
    public init(
        configuration: SecurePushConfiguration, credentials: any CredentialsProvider, store: any ClientStore,
        transport: any Transport, clock: any ClientClock = SystemClientClock(),
        presenter: (any NotificationPresenter)? = nil
    ) {
        self.configuration = configuration
        self.credentials = credentials
        self.store = store
        self.clock = clock
        self.presenter = BoundedPresenter(
            presenter: presenter ?? DefaultPresenter.make(), limit: CallLimit(on: clock))
        // Both get an error if the store does not answer.
        limit = (credentials as? TokenCredentialsProvider)?.limit ?? CallLimit(on: clock)
        userNameLimit = CallLimit(on: clock)
        keeper = StateKeeper(store: store, limit: limit)
        connection = RetrievalConnection(
            baseURL: configuration.retrievalURL, limits: configuration.limits, credentials: credentials,
            transport: transport, clock: clock)
    }

    /// Handles a silent push: fetches and shows the secret, and then the inbox after the last known notification. A
    /// withdrawal removes the notification from the screen.
    ///
    /// It never fails: if there is no secret, the user sees the generic text or the prompt, and the report says why.
    ///
    /// - Returns: after at most ``ClientLimits/secondsInTotal``.
    public func handle(push: IncomingPush) async -> WakeReport {
        guard push.isSecurePush else { return WakeReport(code: .malformedPush) }
        var wake = begin()
        var report: WakeReport
        switch await receive(push, in: &wake) {
        case .locked: return await showLockedNotice()
        case .ignored(let code): return WakeReport(code: code)
        case .unverified:
            await show(genericNotice(push.id, .credentials))
            return WakeReport(result: .failed, waiting: push.id.map { [$0] } ?? [], code: .credentials)
        case .unusable:
            await show(genericNotice(nil, .malformedPush))
            return WakeReport(result: .failed, code: .malformedPush)
        case .withdrawn:
            report = WakeReport(result: .newData)
            report.add(await catchUp(in: wake))
        case .settled:
            report = await catchUp(in: wake)
        case .wanted(let id):
            report = await fetchAndShow(id, in: wake)
            if report.code.map(\.allowsCatchUp) ?? true { report.add(await catchUp(in: wake)) }
        }
        await end(wake)
        return report
    }

    /// Fetches the inbox and everything that waits, and removes the prompt unless the user has to log in. Call it when
    /// the app starts and when it comes to the foreground.
    ///
    /// - Returns: after at most ``ClientLimits/secondsInTotal``.
    public func catchUp() async -> WakeReport {
        var wake = begin()
        do { wake.userChanges = try await adoptUser().changes } catch { return await showLockedNotice() }
        let report = await catchUp(in: wake)
        if report.code.map({ !$0.asksForLogIn && $0 != .locked }) ?? true {
            _ = try? await keeper.update { $0.isPrompted = false }
            await presenter.removePrompt()
        }
        await end(wake)
        await renewKey(until: wake.deadline)
        return report
    }

    /// Shows everything that waits for the log-in, and removes the prompt. Call it after the user has logged in.
    ///
    /// If another user has logged in, the notifications of the last one are forgotten and removed from the screen.
    ///
    /// - Returns: after at most ``ClientLimits/secondsInTotal``.
    public func resumeAfterLogIn() async -> WakeReport {
        await catchUp()
    }

    func begin() -> Wake {
        wakes += 1
        let end = clock.uptime + configuration.limits.secondsInTotal
        return Wake(number: wakes, deadline: end - Wake.secondsAfterRequests)
    }

    /// The number of the last wake.
    var lastWake: Int { wakes }

    /// The notifications that wait: those behind the prompt, and those that could not be fetched yet; oldest first.
    public func waiting() async -> [PushID] {
        (try? await keeper.read())?.ledger.waiting ?? []
    }
}

/// One wake.
struct Wake: Sendable {
    /// Wakes are counted. A catch-up serves those that came before it began.
    let number: Int
    /// The ``ClientClock/uptime`` at which its requests end.
    let deadline: TimeInterval
    /// ``ClientState/userChanges`` when it began. The wake shows nothing after the user has changed.
    var userChanges = 0

    /// The time from the end of the requests to that of the wake: the user sees something in place of what was not
    /// fetched.
    static let secondsAfterRequests: TimeInterval = 0.05
}

extension SecurePushClient {
    /// Reports shown notifications to the server, confirms withdrawals that came in the meantime, tells the server of
    /// log-outs, and reads its keys for pushes if those that are stored are old.
    func end(_ wake: Wake) async {
        await reportShown(until: wake.deadline)
        await confirmWithdrawals(until: wake.deadline)
        await deliverDepartures(until: wake.deadline)
        await refreshOldPushKeys(until: wake.deadline)
    }

    /// Whether the user is still the one for whom the wake began. A damaged store begins at 0 again.
    func isCurrent(_ wake: Wake) async -> Bool {
        ((try? await keeper.read())?.userChanges ?? 0) <= wake.userChanges
    }

    /// The user who is logged in; `nil` also if that is not known now.
    func currentUserName() async -> String? { try? await knownUserName() }

    /// The user who is logged in.
    ///
    /// - Throws: ``SecurePushFailure`` if that is not known now, because the provider or the store does not answer.
    func knownUserName() async throws -> String? {
        let name: String?
        do {
            name = try await userNameLimit.run { [credentials] in await credentials.userName() }
        } catch {
            throw SecurePushFailure(code: .credentials)
        }
        if name == nil, await keeper.isBlind { throw SecurePushFailure(code: .credentials) }
        return name
    }

    /// Shows that messages may be waiting, once per start of the device.
    func showLockedNotice() async -> WakeReport {
        if let notice = await claimLockedNotice() { await show(notice) }
        return WakeReport(result: .failed, code: .locked)
    }

    /// The notice that the device is locked: one per start of the device, then `nil`.
    func claimLockedNotice() async -> GenericNotice? {
        // Without an answer, the notice is shown once more rather than not at all.
        guard (try? await limit.run { [store] in await store.claimLockedNotice() }) ?? true else { return nil }
        return GenericNotice(id: nil, localizationKey: configuration.texts.locked, code: .locked)
    }

    /// The generic text.
    nonisolated func genericNotice(_ id: PushID?, _ code: DiagnosticCode) -> GenericNotice {
        GenericNotice(id: id, localizationKey: configuration.texts.generic, code: code)
    }

    func setBadge(_ count: Int) async {
        badge = count
        await presenter.setBadge(count)
    }

    /// Shows a notice. If the system refuses, there is nothing else to show.
    func show(_ notice: GenericNotice) async {
        try? await presenter.show(notice)
    }
}

extension WakeReport {
    /// Adds the result of the next step.
    mutating func add(_ other: WakeReport) {
        shown += other.shown
        waiting += other.waiting.filter { !waiting.contains($0) }
        code = code ?? other.code
        if result == .newData || other.result == .newData {
            result = .newData
        } else if result == .failed || other.result == .failed {
            result = .failed
        }
    }
}

extension DiagnosticCode {
    /// Whether it makes sense to ask the server for more after this failure.
    var allowsCatchUp: Bool {
        ![.loggedOut, .status(401), .locked, .credentials, .timedOut, .unreachable, .untrusted].contains(self)
    }

    /// Whether the user has to log in.
    var asksForLogIn: Bool { self == .loggedOut || self == .status(401) }
}
