import ArgumentParser
import ChaosChecker
package import Domain

extension WithdrawalMode: ExpressibleByArgument {}

/// The options of a run.
struct ChaosOptions: ParsableArguments {
    enum Database: String, ExpressibleByArgument, CaseIterable, Sendable {
        case postgres, sqlite
    }

    enum Hub: String, ExpressibleByArgument, CaseIterable, Sendable {
        case emulator, own
    }

    /// The time of each reminder after the last push: the shortest that ingest takes.
    static let reminderSeconds = 30
    static let reminderCount = 2
    /// With hubs of one's own each user has so many: what is not pushed at once is stored, if another device of the
    /// user was reached (contract-hub, K3).
    static let ownDevicesOfUser = 3

    @Option(help: "How many notifications are sent.") var count = 2000
    @Option(help: "The hub: emulator, or own for `hub` with push services that often answer badly.")
    var hub = Hub.emulator
    @Option(help: "Processes of --hub own; left out, 2, and 1 with --database sqlite.") var hubs: Int?
    @Option(help: "The platforms fanned out to, separated by commas: apple, fcmv1, windows; browser with --hub own.")
    var platforms: String?
    @Option(help: "How many users there are; each has a device on every platform, or three with --hub own.")
    var recipients = 50
    @Option(help: "Dispatcher processes.") var dispatchers = 2
    @Option(help: "Ingest processes.") var ingests = 2
    @Option(help: "The store.") var database = Database.postgres
    @Option(help: "RabbitMQ nodes: 1, or 3 (scripts/rabbitmq-cluster.sh).") var nodes = 1
    @Option(help: "Every n-th notification asks for two reminders; 0 for none; left out, 2, and 0 with --hub own.")
    var remindEvery: Int?
    @Option(help: "Every n-th notification is revoked after it was accepted; 0 for none.") var revokeEvery = 50
    @Option(help: "The dispatchers' DISPATCH_WITHDRAW.") var withdraw = WithdrawalMode.read
    @Option(help: "The share of pushes that the hub emulator accepts and loses, 0 to 1; left out, 0.02.")
    var swallow: Double?
    @Flag(inversion: .prefixedNo, help: "Sign the pushes; the devices ignore others.") var sign = true
    @Option(help: "What the plan is made from; the same seed gives the same plan.") var seed: UInt64 = 1
    @Option(help: "Kills by kind; hub with --hub own.")
    var kills = Kills(text: "rabbitmq=2,postgres=2,ingest=3,dispatcher=6")
    @Option(help: "How often the broker's data is deleted.") var wipeBroker = 1
    @Option(help: "How often the hub answers every send with 429 for a while.") var storms = 2
    @Option(help: "How often a dispatcher is stopped (SIGSTOP) and goes on later.") var stops = 1
    @Option(help: "How often a dispatcher is asked to end (SIGTERM).") var terms = 1
    @Option(help: "How often a dispatcher is asked to end (SIGTERM) while the hub answers nothing.") var silences = 1
    @Option(help: "How often the database is read-only for 20 seconds.") var readOnlies = 1
    @Option(help: "How often the binding of the dispatch queue is removed.") var unbinds = 1
    @Option(help: "How often the retry queues are deleted.") var removals = 1
    @Option(help: "How often nobody reads the logs of the services for a while.") var unreads = 1
    @Option(help: "Notifications a second; left out, the run lasts as long as its faults need.") var rate: Int?
    @Option(help: "Requests to ingest at once.") var inFlight = 32
    @Option(help: "Hub requests at once of one dispatcher (DISPATCH_CONCURRENCY): what a kill can make come twice.")
    var concurrency = 32
    @Option(help: "The services' RETRY_DELAYS.") var retryDelays = "1s,2s,4s,8s,15s"
    @Option(help: "Seconds after which the run is given up; left out, a multiple of its expected length.")
    var timeLimit: Int?
    @Option(help: "Where data, logs and the history go; left out, a new temporary folder.") var directory: String?
    @Option(help: "The folder of rabbitmq.sh and postgres.sh.") var scripts = "scripts"
    @Option(help: "The folder of the program securepush.") var products = ".build/debug"
    @Flag(help: "Print the verdict as JSON.") var json = false
    @Flag(help: "Print the plan and do nothing.") var planOnly = false
    @Option(help: ArgumentHelp("Judge a history that was kept, and do nothing else.", valueName: "history"))
    var checkOnly: String?

    var isOwn: Bool { hub == .own }

    var platformNames: [String] {
        (platforms ?? (isOwn ? "apple,fcmv1,windows,browser" : "apple,fcmv1,windows")).split(separator: ",").map(
            String.init)
    }

    var hubCount: Int { isOwn ? hubs ?? (database == .sqlite ? 1 : 2) : 1 }
    var devicesOfUser: Int { isOwn ? Self.ownDevicesOfUser : platformNames.count }
    var remindInterval: Int { remindEvery ?? (isOwn ? 0 : 2) }
    var swallowed: Double { isOwn ? 0 : swallow ?? 0.02 }

    /// Why the options cannot be used, as a message to the user; `nil` if they can.
    var problem: String? {
        let known = ["apple", "fcmv1", "windows"] + (isOwn ? ["browser"] : [])
        let isKnown = platformNames.allSatisfy(known.contains) && Set(platformNames).count == platformNames.count
        if platformNames.isEmpty || !isKnown {
            return "--platforms are of \(known.joined(separator: ","))."
        }
        if min(count, dispatchers, ingests, inFlight, concurrency, recipients - 1) < 1 {
            return "--count, --dispatchers, --ingests, --in-flight and --concurrency are at least 1, --recipients 2."
        }
        if min(remindInterval, revokeEvery) < 0 { return "--remind-every and --revoke-every are at least 0." }
        if let swallow, !(0...1).contains(swallow) { return "--swallow is 0 to 1." }
        if let problem = hubProblem { return problem }
        if let rate, rate < 1 { return "--rate is at least 1." }
        if nodes != 1 && nodes != 3 { return "--nodes is 1 or 3." }
        if nodes == 3 && wipeBroker > 0 { return "--wipe-broker needs --nodes 1: the data of three is not deleted." }
        if kills.counts[.postgres, default: 0] > 0 && database == .sqlite && !kills.isDefault {
            return "--database sqlite has no server to kill: leave postgres out of --kills."
        }
        return nil
    }

    private var hubProblem: String? {
        guard isOwn else {
            if hubs != nil { return "--hubs needs --hub own." }
            return kills.counts[.hubProcess, default: 0] > 0 ? "A kill of hub needs --hub own." : nil
        }
        if !(1...8).contains(hubCount) { return "--hubs is 1 to 8." }
        if database == .sqlite && hubCount > 1 { return "--database sqlite has room for --hubs 1 only." }
        // A reminder that a hub has stored may come after the fetch.
        if remindInterval > 0 { return "--hub own has no reminders: leave --remind-every out." }
        if swallow != nil { return "--swallow needs --hub emulator." }
        return nil
    }

    /// About how long the faults need, in seconds: those of one target come one after another.
    var seconds: Int {
        let request = planRequest
        let broker = 25 * (request.kills[.rabbitmq, default: 0] + wipeBroker) + 10 * (unbinds + removals)
        let store = 12 * request.kills[.postgres, default: 0] + 30 * request.readOnlies
        let ingest = 6 * request.kills[.ingest, default: 0]
        let dispatcher =
            7 * (request.kills[.dispatcher, default: 0] + terms) + 2 * request.stopSeconds * stops
            + 25 * silences
        let hub = 2 * request.stormSeconds * storms
        let processes = 7 * request.kills[.hubProcess, default: 0]
        let logs = (request.unreadSeconds + 5) * unreads
        return max(15, broker, store, ingest, dispatcher, hub, processes, logs)
    }

    /// Notifications a second.
    var pace: Int { rate ?? max(1, count / seconds) }

    var limit: Int { timeLimit ?? 240 + 5 * max(seconds, count / pace) }

    /// Duplicate sends that are allowed beside 2 % of all. In a short run the requests that are in flight when a
    /// dispatcher or the database is killed are more than that; in a long one they are not.
    var allowance: Int {
        if isLong { return 0 }
        let request = planRequest
        let interruptions = request.kills[.dispatcher, default: 0] + stops + terms
        let databases = request.kills[.postgres, default: 0] + request.readOnlies
        return (interruptions + databases * dispatchers) * concurrency
    }

    private var isLong: Bool { count >= 20_000 }

    var planRequest: FaultPlan.Request {
        var kills = kills.counts
        if database == .sqlite { kills[.postgres] = nil }
        if isOwn && self.kills.isDefault { kills[.hubProcess] = 4 }
        return FaultPlan.Request(
            seed: seed, kills: kills, wipes: wipeBroker, storms: storms, stops: stops, terms: terms,
            silences: silences, unbinds: unbinds, removals: removals,
            readOnlies: database == .postgres ? readOnlies : 0, unreads: unreads,
            members: [.rabbitmq: nodes, .ingest: ingests, .dispatcher: dispatchers, .hubProcess: hubCount],
            stormSeconds: isLong ? 60 : 5, stopSeconds: isLong ? 60 : 8, unreadSeconds: isLong ? 20 : 5)
    }

    /// One line that holds all that is needed to do the same again.
    var summary: String {
        let killed = planRequest.kills.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\(Kills.name(of: $0.key))=\($0.value)" }.joined(separator: ",")
        let hubText = isOwn ? "--hub own --hubs \(hubCount) " : ""
        return "chaos --seed \(seed) --count \(count) " + hubText
            + "--platforms \(platformNames.joined(separator: ",")) --recipients \(recipients) "
            + "--dispatchers \(dispatchers) --ingests \(ingests) --database \(database.rawValue) --nodes \(nodes) "
            + "--kills \(killed.isEmpty ? "none" : killed) --wipe-broker \(wipeBroker) --storms \(storms) "
            + "--stops \(stops) --terms \(terms) --silences \(silences) --unbinds \(unbinds) --removals \(removals) "
            + "--read-onlies \(planRequest.readOnlies) --unreads \(unreads) --rate \(pace) --in-flight \(inFlight) "
            + "--concurrency \(concurrency) --retry-delays \(retryDelays) --remind-every \(remindInterval) "
            + "--revoke-every \(revokeEvery) --withdraw \(withdraw.rawValue)"
            + (isOwn ? "" : " --swallow \(swallowed)")
            + (sign ? "" : " --no-sign")
    }
}

/// `rabbitmq=10,postgres=10,ingest=10,dispatcher=50`, or `none`.
struct Kills: ExpressibleByArgument, Sendable, CustomStringConvertible {
    let counts: [FaultPlan.Target: Int]
    let description: String
    let isDefault: Bool

    init(text: String) {
        counts = Self.read(text) ?? [:]
        description = text
        isDefault = true
    }

    init?(argument: String) {
        guard let counts = argument == "none" ? [:] : Self.read(argument) else { return nil }
        self.counts = counts
        description = argument
        isDefault = false
    }

    var defaultValueDescription: String { description }

    /// The target's name here: `hub` is killed, and answers badly under its own name in the plan.
    static func name(of target: FaultPlan.Target) -> String { target == .hubProcess ? "hub" : target.rawValue }

    private static func read(_ text: String) -> [FaultPlan.Target: Int]? {
        var counts: [FaultPlan.Target: Int] = [:]
        for part in text.split(separator: ",") {
            let words = part.split(separator: "=")
            guard words.count == 2,
                let target = FaultPlan.Target.allCases.first(where: { name(of: $0) == words[0] && $0 != .hub }),
                target != .logs, let count = Int(words[1]), count >= 0
            else { return nil }
            counts[target] = count
        }
        return counts
    }
}
