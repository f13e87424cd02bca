import SecurePushCore

/// What a device does in a scenario: the rules of `Clients/vectors/README.md`, step by step, with a number as the
/// clock. It shares no code with any SDK, so that an SDK which keeps to the vectors keeps to the rules.
final class DeviceModel {
    struct Tokens {
        var access: String
        /// Milliseconds since 1970.
        var expiresAt: Int?
        var refresh: String?
    }

    enum Progress { case pending, shown, withdrawn, gone }

    struct Entry {
        let id: String
        var progress = Progress.pending
        var isNoticed = false
        /// The requests without a clear answer.
        var openRequests = 0
        var isFirstReader = false
    }

    let server: ServerModel
    /// The members `x` of the configured keys; `nil`: pushes are not signed.
    private let configuredKeys: [String]?
    /// Those of the server's keys, and the date at which they came.
    private var learnedKeys: (keys: [String], date: Int)?
    /// The time since the scenario began.
    var now = 0
    private(set) var date: Int
    private var lastNow = 0
    var tokens: Tokens?
    /// Whether somebody has ever logged in.
    var hasUser: Bool
    var entries: [Entry] = []
    var cursor: String?
    var questioned: [String] = []
    var unreported: [String] = []
    var seen: WakeModel
    /// What the user sees.
    var secretsOnScreen: [String] = []
    var noticesOnScreen: [String] = []
    var isPromptOnScreen = false
    var isPrompted = false
    private var hasLockedNotice = false
    // The faults of the wake.
    var isStoreUnwritable = false
    var isLocked = false
    var refusals = 0

    init(_ scenario: Scenario, _ server: ServerModel) throws {
        self.server = server
        configuredKeys = scenario.isSigned ? [try VectorKeys.x(VectorKeys.current)] : nil
        date = VectorKeys.date + scenario.dateOffset
        hasUser = scenario.isLoggedIn
        if scenario.isLoggedIn {
            tokens = Tokens(
                access: "access-1", expiresAt: scenario.tokenLifetime.map { VectorKeys.date + $0 },
                refresh: scenario.hasRefreshToken ? "refresh-1" : nil)
        }
        seen = WakeModel(begin: 0)
    }

    /// The time of day, in milliseconds since 1970.
    var today: Int { date + now }

    // MARK: Wakes

    func beginWake(_ faults: [Scenario.DeviceFault]) {
        (isStoreUnwritable, isLocked, refusals) = (false, false, 0)
        for fault in faults {
            switch fault {
            case .unwritable(let times): isStoreUnwritable = times == nil
            case .damaged:
                (entries, cursor, questioned, unreported, isPrompted) = ([], nil, [], [], false)
                learnedKeys = nil
            case .locked: isLocked = true
            case .refused(let times): refusals = times ?? .max
            case .clock(let jump): date += jump
            // Everything is in the store.
            case .restarted: break
            }
        }
        seen = WakeModel(begin: now)
    }

    func endWake() -> JSONLiteral {
        seen.json(
            end: now, waiting: waiting,
            screen: [
                "secrets": JSONLiteral(secretsOnScreen.sorted()), "generic": JSONLiteral(noticesOnScreen.sorted()),
                "prompt": JSONLiteral(isPromptOnScreen),
            ])
    }

    /// A push that is not believed.
    func ignore(_ reason: String) { seen.report = WakeModel.Report(code: reason) }

    /// - Parameter signature: the date and the key.
    func receive(_ id: String, withdraw: Bool, _ signature: (date: Int, key: String)?) {
        if isLocked { return lock() }
        if let keys = learnedKeys?.keys ?? configuredKeys, let signature {
            guard hasUser, keys.contains(signature.key) else { return ignore("SP-SIGNATURE") }
            if today - signature.date > 28 * 86_400_000 { return ignore("SP-AGE") }
        }
        if withdraw {
            self.withdraw(id)
            seen.report = WakeModel.Report(result: .newData)
            seen.report.add(fetchInbox())
        } else if learn(id) {
            seen.report = fetchAndShow(id)
            if seen.report.code.map(Self.allowsInbox) ?? true { seen.report.add(fetchInbox()) }
        } else {
            seen.report = fetchInbox()
        }
        end()
    }

    func catchUp() {
        if isLocked { return lock() }
        seen.report = fetchInbox()
        if seen.report.code.map({ !Self.asksForLogIn($0) }) ?? true {
            (isPrompted, isPromptOnScreen) = (false, false)
        }
        end()
    }

    func logIn() {
        var request = ServerModel.Request(method: "POST", path: "/api/token")
        request.authorization = "Basic " + Base64.encode("\(VectorKeys.user):correct horse".utf8, .standard)
        guard case .response(_, 200, let body) = exchange(request, timeout: 8_000), let tokens = readTokens(body) else {
            return
        }
        self.tokens = tokens
        hasUser = true
        // The wake's 25 s begin after the log-in.
        seen.deadline = now + 25_000
        catchUp()
    }

    private func end() {
        reportShown()
        askQuestions()
        refreshKeys()
    }

    private func refreshKeys() {
        guard configuredKeys != nil else { return }
        if let learnedKeys, (0..<3_600_000).contains(today - learnedKeys.date) { return }
        let timeout = min(5_000, seen.deadline - now)
        guard timeout >= 500 else { return }
        let reply = exchange(ServerModel.Request(path: "/api/push-keys"), timeout: timeout)
        guard case .response(_, 200..<300, let body) = reply, let keys = Self.readKeys(body) else { return }
        learnedKeys = (keys, today)
    }

    private func lock() {
        seen.report = WakeModel.Report(result: .failed, code: "SP-LOCKED")
        if !hasLockedNotice { seen.locked += 1 }
        hasLockedNotice = true
    }

    // MARK: The inbox

    private func fetchInbox() -> WakeModel.Report {
        askQuestions()
        var report = WakeModel.Report()
        let listing: Listing
        switch list() {
        case .failure(let code):
            if Self.asksForLogIn(code), !waiting.isEmpty { return prompt(waiting, code) }
            return WakeModel.Report(result: .failed, code: code)
        case .success(let found): listing = found
        }
        var unread = listing.unread
        if listing.found.count > 1 { report.add(showPages(listing, &unread)) }
        if report.code == nil { report.add(showWaiting(&unread)) }
        seen.badge = unread
        return report
    }

    private struct Listing {
        var anchor: String?
        var found: [String] = []
        var unread = 0
    }

    private enum Listed {
        case success(Listing)
        case failure(String)
    }

    private func list() -> Listed {
        var listing = Listing(anchor: cursor)
        if let code = listPages(&listing, after: cursor, isUnreadOnly: cursor == nil) { return .failure(code) }
        if listing.anchor != nil, listing.unread > waiting.count {
            if let code = listPages(&listing, after: nil, isUnreadOnly: true) { return .failure(code) }
        }
        return .success(listing)
    }

    /// - Returns: the code of a failure.
    private func listPages(_ listing: inout Listing, after start: String?, isUnreadOnly: Bool) -> String? {
        var after = start
        for _ in 0..<10 {
            var query = [("Limit", "200")]
            if isUnreadOnly { query.append(("Unread", "true")) }
            if let after { query.append(("After", after)) }
            let page: PageModel
            switch readPage(query).result {
            case .failure(let code), .unusable(let code): return code
            case .success(let read): page = read
            }
            listing.unread = page.unread
            let isFirst = listing.anchor == nil
            let new = page.ids.filter { id in !entries.contains { $0.id == id } }
            for id in page.ids { learn(id) }
            if !isUnreadOnly || isFirst {
                cursor = page.ids.last ?? cursor ?? entries.last { $0.progress == .shown }?.id
            }
            listing.found += new.filter { !listing.found.contains($0) }
            guard page.hasNext, let last = page.ids.last, last != after, waiting.count < 500 else { return nil }
            after = last
        }
        return nil
    }

    private func showPages(_ listing: Listing, _ unread: inout Int) -> WakeModel.Report {
        var (report, after, missing) = (WakeModel.Report(), listing.anchor, listing.found)
        while !missing.isEmpty, report.shown.count < 100 {
            var query = [("include", "payload"), ("Limit", "20")]
            if listing.anchor == nil { query.append(("Unread", "true")) }
            if let after { query.append(("After", after)) }
            // Whether the server was asked for each of them before.
            var asked = Dictionary(missing.prefix(20).map { ($0, ask($0)) }) { first, _ in first }
            let (result, lost) = readPage(query)
            if lost == 0 { result.answered(asked.keys).forEach(unask) }
            guard case .success(let page) = result, let last = page.ids.last else { break }
            unread = page.unread
            // Also those that have become visible since the listing.
            for id in page.secrets.map(\.id) where !entries.contains(where: { $0.id == id }) {
                learn(id)
                asked[id] = ask(id)
            }
            for secret in page.secrets {
                guard let wasAsked = asked.removeValue(forKey: secret.id) else { continue }
                report.add(claimAndShow(secret, wasAsked: wasAsked || lost > 0))
            }
            missing.removeAll { id in page.secrets.contains { $0.id == id } }
            guard page.hasNext, !page.secrets.isEmpty, last != after else { break }
            after = last
        }
        return report
    }

    private func showWaiting(_ unread: inout Int) -> WakeModel.Report {
        var report = WakeModel.Report()
        let pending = entries.filter { $0.progress == .pending }
        for id in (pending.filter { !$0.isNoticed } + pending.filter(\.isNoticed)).map(\.id) {
            guard now < seen.deadline else { break }
            let step = acquire(id, until: min(seen.deadline, now + 8_000))
            if case .secret(let secret, _) = step, let count = secret.unread { unread = count }
            if case .loggedOut(let code) = step {
                report.add(prompt(waiting, code))
                break
            }
            let shown = finish(step, id)
            report.add(shown)
            if let code = shown.code, !Self.allowsInbox(code) { break }
        }
        return report
    }

    static func asksForLogIn(_ code: String) -> Bool { code == "SP-LOGIN" || code == "SP-401" }

    static func allowsInbox(_ code: String) -> Bool {
        !["SP-LOGIN", "SP-401", "SP-LOCKED", "SP-CREDENTIALS", "SP-TIMEOUT", "SP-OFFLINE", "SP-TLS"].contains(code)
    }
}
