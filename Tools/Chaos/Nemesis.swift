import ChaosChecker
import Foundation
import Foundations
import StackKit
import Synchronization

/// Executes the plan. The lanes of the targets run in parallel. The faults of a lane run one after another.
struct Nemesis: Sendable {
    let stack: Stack
    let plan: FaultPlan
    let history: HistoryWriter
    let progress: Progress
    /// How many pushes the backend has left without an answer, from the first on.
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
        case (.hubProcess, _): try await breakService(stack.hubs[fault.member - 1], fault)
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
        try await stack.backend.beginStorm(fault.pause)
        await rest(fault.pause)
        try await stack.backend.endStorm()
    }

    /// SIGTERM into a backend that takes connections and answers nothing, once it has left a push per dispatcher
    /// unanswered; the dispatcher comes back when it answers again.
    private func silence(_ service: ServiceProcess, _ fault: FaultPlan.Fault) async throws {
        // A storm is an answer, and would be the one that counts.
        await hubTurn.take()
        defer { hubTurn.give() }
        // It takes none of these sends, so none may be a duplicate later.
        try await stack.backend.beginSilence()
        do {
            // No more than that: the sender may be waiting for this fault to end, so few sends may be left.
            let enough = unansweredSends() + stack.dispatchers.count
            let begin = ContinuousClock.now
            while unansweredSends() < enough, ContinuousClock.now < begin + .seconds(60), !Task.isCancelled {
                await pause(.milliseconds(20))
            }
            let isFelt = unansweredSends() >= enough || Task.isCancelled
            await service.terminate()
            guard isFelt else { throw Stack.NotStarted(description: "the silence met no sends within a minute") }
            await rest(fault.pause - Int((ContinuousClock.now - begin).milliseconds))
        } catch {
            try await stack.backend.endSilence()
            try await bringBack(service)
            throw error
        }
        try await stack.backend.endSilence()
        try await bringBack(service)
    }

    /// The backend's faults from the first send to the last.
    func beginFaults() async throws {
        note(.begin, stack.backend.faults)
        try await stack.backend.beginFaults()
    }

    /// The end of all faults.
    func endFaults() async throws {
        try await stack.backend.endFaults()
        note(.end, stack.backend.faults)
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
