import ChaosChecker
import Foundation
import Foundations
import NIOCore
import NIOHTTP1
import StackKit
import Synchronization

/// Executes the plan. The lanes of the targets run in parallel. The faults of a lane run one after another.
struct Nemesis: Sendable {
    let stack: Stack
    let plan: FaultPlan
    let history: HistoryWriter
    let progress: Progress
    /// How many sends the hub has left without an answer, from the first on.
    let unansweredSends: @Sendable () -> Int
    private let hubTurn = Turn()

    /// Returns once every fault was done and undone.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for target in FaultPlan.Target.allCases {
                group.addTask {
                    let lane = plan.lane(target)
                    for (number, fault) in lane.enumerated() where await isDue(fault) {
                        progress.hold(target, at: number + 1 < lane.count ? lane[number + 1].progress : nil)
                        await perform(fault)
                        progress.hold(target, at: nil)
                    }
                }
            }
        }
    }

    /// Waits for a fault's time.
    ///
    /// - Returns: whether it came.
    private func isDue(_ fault: FaultPlan.Fault) async -> Bool {
        while progress.parts < fault.progress {
            if Task.isCancelled { return false }
            await pause(.milliseconds(20))
        }
        return !Task.isCancelled
    }

    private func perform(_ fault: FaultPlan.Fault) async {
        note(.begin, fault.description)
        do {
            note(.end, fault.description, healed: try await undo(fault))
        } catch {
            note(.end, fault.description, failure: "\(error)")
        }
    }

    private func note(
        _ phase: HistoryEvent.Nemesis.Phase, _ fault: String, healed: Int? = nil, failure: String? = nil
    ) {
        history.write(
            .nemesis(.init(time: HistoryWriter.now, phase: phase, fault: fault, healed: healed, failure: failure)))
    }

    /// Does a fault, waits, and undoes it.
    ///
    /// - Returns: how many queues of the broker had to be healed.
    private func undo(_ fault: FaultPlan.Fault) async throws -> Int? {
        switch (fault.target, fault.action) {
        case (.rabbitmq, .unbind), (.rabbitmq, .remove): try await breakTopology(fault)
        case (.rabbitmq, _): return try await breakBroker(fault)
        case (.postgres, .readOnly):
            try await stack.database.setReadOnly(true)
            await rest(fault.pause)
            try await stack.database.setReadOnly(false)
        case (.postgres, _):
            try await stack.database.kill()
            await rest(fault.pause)
            try await stack.database.start()
        case (.hub, _): try await storm(fault)
        case (.logs, _):
            stack.logs.setReading(false)
            await rest(fault.pause)
            stack.logs.setReading(true)
        case (.ingest, _): try await breakService(stack.ingests[fault.member - 1], fault)
        case (.dispatcher, .silence): try await silence(stack.dispatchers[fault.member - 1], fault)
        case (.dispatcher, _): try await breakService(stack.dispatchers[fault.member - 1], fault)
        case (.retrieval, _): try await breakService(stack.retrievals[0], fault)
        }
        return nil
    }

    private func breakBroker(_ fault: FaultPlan.Fault) async throws -> Int {
        try await stack.broker.kill(fault.member)
        if fault.action == .wipe {
            // The files are deleted now, so they cannot be searched at the end.
            CanarySearch(marker: stack.secrets.marker, history: history).search(stack.folder.broker, "broker files")
            try stack.broker.wipe()
        }
        await rest(fault.pause)
        try await stack.broker.restart(fault.member)
        return try await stack.broker.heal()
    }

    private func breakService(_ service: ServiceProcess, _ fault: FaultPlan.Fault) async throws {
        switch fault.action {
        case .stop:
            service.send(SIGSTOP)
            await rest(fault.pause)
            service.send(SIGCONT)
            return
        case .term: await service.terminate()
        case .kill, .wipe, .storm, .silence, .unbind, .remove, .readOnly, .unread: await service.kill()
        }
        await rest(fault.pause)
        try await bringBack(service)
    }

    private func bringBack(_ service: ServiceProcess) async throws {
        if Task.isCancelled { return }
        try service.start()
        guard await stack.http.waitUntilOK(port: service.port, "/livez", within: .seconds(60)) else {
            throw Stack.NotStarted(description: "\(service.name) did not come back within a minute")
        }
    }

    private func storm(_ fault: FaultPlan.Fault) async throws {
        await hubTurn.take()
        defer { hubTurn.give() }
        try await setFault(#"{"Operation":"send","Status":429,"RetryAfter":2,"For":"\#(fault.pause)ms"}"#)
        await rest(fault.pause)
    }

    /// SIGTERM into a hub that takes connections and answers nothing, once it has left a send per dispatcher
    /// unanswered; the dispatcher comes back when the hub answers again.
    private func silence(_ service: ServiceProcess, _ fault: FaultPlan.Fault) async throws {
        // A storm is an answer, and would be the one that counts.
        await hubTurn.take()
        defer { hubTurn.give() }
        // The hub takes none of these sends, so none may be a duplicate later.
        let number = try await setFault(#"{"Operation":"send","TimeoutMs":60000}"#)
        do {
            // No more than that: the sender may be waiting for this fault to end, so few sends may be left.
            let enough = unansweredSends() + stack.dispatchers.count
            let begin = ContinuousClock.now
            while unansweredSends() < enough, ContinuousClock.now < begin + .seconds(60), !Task.isCancelled {
                await pause(.milliseconds(20))
            }
            let isFelt = unansweredSends() >= enough || Task.isCancelled
            await service.terminate()
            guard isFelt else { throw Stack.NotStarted(description: "the hub's silence met no sends within a minute") }
            await rest(fault.pause - Int((ContinuousClock.now - begin).milliseconds))
        } catch {
            try await removeFault(number)
            try await bringBack(service)
            throw error
        }
        try await removeFault(number)
        try await bringBack(service)
    }

    /// The hub's faults from the first send to the last: 5 % 503, 1 % taken without an answer, 1 % connections cut, and
    /// a share of the pushes taken and lost.
    func beginHubFaults() async throws {
        let seed = plan.request.seed % 1_000_000
        note(.begin, hubFaults)
        try await setFault(#"{"Operation":"send","Status":503,"Rate":0.05,"Seed":\#(seed)}"#)
        try await setFault(#"{"Operation":"send","TimeoutMs":2000,"Accept":true,"Rate":0.01,"Seed":\#(seed + 1)}"#)
        try await setFault(#"{"Operation":"send","Reset":true,"Rate":0.01,"Seed":\#(seed + 2)}"#)
        if stack.options.swallow > 0 {
            try await setFault(
                #"{"Operation":"send","Swallow":true,"Rate":\#(stack.options.swallow),"Seed":\#(seed + 3)}"#)
        }
    }

    /// The end of all faults.
    func endHubFaults() async throws {
        _ = try await stack.http.send(
            .DELETE, port: stack.emulator.port, "/emulator/faults", timeout: .seconds(60))
        note(.end, hubFaults)
    }

    private var hubFaults: String {
        "errors of the hub (5 % 503, 1 % taken and unanswered, 1 % reset, \(stack.options.swallow) of all swallowed)"
    }

    /// - Returns: its number at the emulator.
    @discardableResult private func setFault(_ json: String) async throws -> Int {
        let answer = try await stack.http.send(
            .POST, port: stack.emulator.port, "/emulator/faults", json: json, timeout: .seconds(60))
        guard (200..<300).contains(answer.status) else {
            throw Stack.NotStarted(description: "the hub emulator refused a fault: \(answer.status)")
        }
        // All that are in force; the newest has the highest number.
        let faults: [FaultNumber] = try answer.decoded()
        return faults.map(\.id).max() ?? 0
    }

    private struct FaultNumber: Decodable {
        let id: Int
        private enum CodingKeys: String, CodingKey { case id = "Id" }
    }

    private func removeFault(_ number: Int) async throws {
        _ = try await stack.http.send(
            .DELETE, port: stack.emulator.port, "/emulator/faults/\(number)", timeout: .seconds(60))
    }

    /// Waits, but not in a run that is broken off.
    private func rest(_ milliseconds: Int) async {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while ContinuousClock.now < end, !Task.isCancelled { await pause(min(.milliseconds(50), end - .now)) }
    }
}

/// One at a time: two faults of the whole hub would hide each other.
private final class Turn: Sendable {
    private let isTaken = Mutex(false)

    func take() async {
        while !Task.isCancelled {
            let isMine = isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
            if isMine { return }
            await pause(.milliseconds(20))
        }
    }

    func give() { isTaken.withLock { $0 = false } }
}
