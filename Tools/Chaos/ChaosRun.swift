import ChaosChecker
import Domain
import Foundation
import Foundations
import StackKit
import Synchronization

/// One run from its first process to its last: all that it sees goes into the history, and nothing is left running.
struct ChaosRun: Sendable {
    /// How long the stack may take to settle everything after the last fault before the run is ended all the same.
    private static let drainLimit = Duration.seconds(150)

    let options: ChaosOptions
    let plan: FaultPlan
    let folder: RunFolder
    let history: HistoryWriter

    private struct TimeIsUp: Error, CustomStringConvertible {
        let seconds: Int
        var description: String { "its \(seconds) s were over" }
    }

    func run() async {
        history.write(
            .run(
                .init(
                    time: HistoryWriter.now, count: options.count, platforms: options.platformNames,
                    allowance: options.allowance, withdraw: options.withdraw.rawValue,
                    hub: options.isOwn ? options.hub.rawValue : nil, plan: plan)))
        var failure: String?
        do {
            let stack = try await Stack.start(options, folder: folder, history: history)
            do { try await bounded { try await drive(stack) } } catch { failure = "\(error)" }
            // A task of its own: a run that was broken off has to end its processes too.
            await Task { await finish(stack) }.value
        } catch {
            failure = "\(error)"
        }
        if failure == nil, Task.isCancelled { failure = "interrupted" }
        if let failure { Report.line("broken off: \(failure)") }
        history.write(.end(.init(time: HistoryWriter.now, failure: failure)))
    }

    private func bounded(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: .seconds(options.limit))
                throw TimeIsUp(seconds: options.limit)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func drive(_ stack: Stack) async throws {
        let progress = Progress(count: options.count)
        let store = try await StoreWatch(stack, history: history)
        let own: OwnHubs? = if let own = stack.own { try await OwnHubs(stack, own.services) } else { nil }
        let fleet = try Fleet(stack: stack, history: history)
        let hub = HubWatch(stack: stack, history: history, fleet: fleet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await store.run() }
            if let own { group.addTask { await own.run() } }
            group.addTask { await hub.run() }
            group.addTask { await fleet.run() }
            group.addTask { await supervise(stack) }
            group.addTask { await tell(progress, fleet) }
            defer { group.cancelAll() }
            try await store.awaitReadiness()
            try await fleet.register()
            try await disturb(stack, progress, store, hub)
            try await drain(store)
            try await own?.drain()
            try await settle(fleet, hub, own)
            try await store.writeFinalRecords()
            try await LetterReader.read(stack, history: history)
            try await own?.writeFinalState(fleet, history: history)
        }
    }

    /// Sends, and breaks things meanwhile.
    private func disturb(_ stack: Stack, _ progress: Progress, _ store: StoreWatch, _ hub: HubWatch) async throws {
        let nemesis = Nemesis(
            stack: stack, plan: plan, history: history, progress: progress,
            unansweredSends: { hub.unansweredSends })
        try await nemesis.beginFaults()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await Sender(stack: stack, history: history, progress: progress).run() }
            group.addTask { await nemesis.run() }
            let observer = Task { await store.observe() }
            await group.waitForAll()
            observer.cancel()
            await observer.value
        }
        try Task.checkCancellation()
        try await nemesis.endFaults()
    }

    /// Waits until the store owes nothing, or for as long as there is any sense in it.
    private func drain(_ store: StoreWatch) async throws {
        let deadline = ContinuousClock.now + Self.drainLimit
        var last = -1
        while ContinuousClock.now < deadline {
            try Task.checkCancellation()
            let count = try? await store.unsettledCount()
            if count == 0 { return }
            if let count, count != last { Report.line("draining: \(count) notifications are owed something") }
            last = count ?? last
            await pause(.seconds(1))
        }
        Report.line("gave up draining: \(last) notifications are owed something")
    }

    /// Lets the devices finish and look into their inboxes. Then waits for the withdrawals that follow, and for
    /// reminders that must not come.
    private func settle(_ fleet: Fleet, _ hub: HubWatch, _ own: OwnHubs?) async throws {
        try await hub.awaitQuiet(.milliseconds(300), within: .seconds(10))
        try await rest(fleet)
        try await fleet.catchUp()
        if options.remindInterval > 0 {
            Report.line("all is fetched: for \(ChaosOptions.reminderSeconds + 5) s no reminder may come")
            await pause(.seconds(ChaosOptions.reminderSeconds + 5))
        }
        switch options.withdraw {
        case .off: break
        // A refused withdrawal may wait for the last of the retry delays.
        case .revoked: try await hub.awaitQuiet(.seconds(16), within: .seconds(60))
        // A push that waited in a hub of one's own may come after its withdrawal.
        case .read where own != nil: try await hub.awaitQuiet(.seconds(16), within: .seconds(60))
        case .read: try await hub.awaitWithdrawals(within: .seconds(60))
        }
        if let own {
            try await own.drain()
            try await hub.awaitQuiet(.milliseconds(500), within: .seconds(10))
        }
        try await rest(fleet)
        try await hub.finish()
    }

    /// Waits until the devices have handled all pushes.
    private func rest(_ fleet: Fleet) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while !fleet.isIdle, ContinuousClock.now < deadline {
            try Task.checkCancellation()
            await pause(.milliseconds(50))
        }
    }

    /// Starts services again that ended by themselves.
    private func supervise(_ stack: Stack) async {
        while !Task.isCancelled {
            for service in stack.all { service.revive() }
            await pause(.milliseconds(200))
        }
    }

    private func tell(_ progress: Progress, _ fleet: Fleet) async {
        let begin = ContinuousClock.now
        var beat = 0
        while !Task.isCancelled {
            await pause(.seconds(1))
            beat += 1
            guard beat % 10 == 0 else { continue }
            let seconds = (ContinuousClock.now - begin).components.seconds
            Report.line("\(seconds) s: \(progress.accepted) of \(progress.count) accepted, \(fleet.shown) shown")
        }
    }

    /// Ends all processes, and looks for payloads in the files that they have left.
    private func finish(_ stack: Stack) async {
        await stack.end()
        let search = CanarySearch(marker: stack.secrets.marker, history: history)
        search.search(folder.broker, "broker files")
        search.search(folder.logs, "service logs")
        search.search(options.database == .postgres ? folder.postgres : folder.sqlite, "database files")
        guard let own = stack.own else { return }
        do {
            let devices = own.services.devices.joined().map(\.made)
            let found = try await HandleSearch(devices, stack.secrets, own.credentials).search(folder)
            history.write(.leak(found))
        } catch {
            // Without the search the history does not pass.
            Report.line("the logs were not searched for handles: \(error)")
        }
    }
}

/// The progress of a run. Tasks can wait for it.
final class Progress: Sendable {
    private struct State {
        var accepted = 0
        var isSendingDone = false
        var holds: [FaultPlan.Target: Int] = [:]
    }

    let count: Int
    private let state = Mutex(State())

    init(count: Int) { self.count = count }

    var accepted: Int { state.withLock { $0.accepted } }
    /// How many of ten thousand parts are accepted; all of them when nothing more will be.
    var parts: Int { state.withLock { $0.isSendingDone ? 10_000 : $0.accepted * 10_000 / count } }

    func accept() { state.withLock { $0.accepted += 1 } }
    func finishSending() { state.withLock { $0.isSendingDone = true } }

    /// While a fault lasts, sending must not pass the time of the target's next one: it would come too late, and at
    /// last when there is nothing left to disturb.
    func hold(_ target: FaultPlan.Target, at parts: Int?) { state.withLock { $0.holds[target] = parts } }

    /// Whether a number may be sent now.
    func allows(_ number: Int) -> Bool {
        state.withLock { state in
            guard let limit = state.holds.values.min() else { return true }
            return number * 10_000 / count <= limit
        }
    }
}
