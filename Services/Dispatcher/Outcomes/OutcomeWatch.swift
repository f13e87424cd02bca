import Logging
import SecurePushCore
import ServiceLifecycle

/// Asks the hub what became of the messages that it has accepted, and stores the answers (`HUB_TELEMETRY`).
///
/// Of all dispatchers only the one with the lease asks, so the rate is that of all together. The places that it has
/// reached are in the store: another process goes on there after a crash. Pushing waits for nothing here.
actor OutcomeWatch: Service {
    private let store: any OutcomeStore
    private let questions: OutcomeQuestions
    private let logger: Logger
    private let holder = Int64.random(in: 1...Int64.max)
    private var hasLease = false
    private var hasSwept = false
    private var refusals = 0
    private let storeProblem = LastingProblemLog(
        "Outcomes of messages cannot be read or stored at the moment", end: "Outcomes of messages are stored again")

    /// The pause when everything that is due was asked for.
    private static let interval = Duration.seconds(5)
    /// The pause while another dispatcher has the lease.
    private static let standby = Duration.seconds(15)
    /// The lease beyond the next pause: longer than one page of questions takes.
    private static let lease = Duration.seconds(60)
    /// Notifications in a page.
    private static let pageLimit = 30
    /// If a pass is later than this, it leaves notifications out, so that outcomes do not come later and later.
    private static let maxDelay = Duration.seconds(5400)
    /// The notifications that a process begins with if nobody has asked for long.
    private static let firstRange = Duration.seconds(1800)
    /// The pauses after refusals in a row: the first may pass, such as a key that is being exchanged.
    private static let pausesAfterRefusal: [Duration] = [.seconds(60), .seconds(1800)]

    init(store: any OutcomeStore, hub: any HubTelemetry, logger: Logger) {
        self.store = store
        questions = OutcomeQuestions(hub: hub)
        self.logger = logger
    }

    /// Asks until shutdown, and then gives the lease back.
    nonisolated func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let pause = await self.sweep()
                // Throws if the task is cancelled, which ends the loop.
                try? await Task.sleep(for: pause)
            }
        }
        await release()
    }

    /// Asks for one page of each pass.
    ///
    /// - Returns: the pause before the next sweep.
    func sweep(now: Timestamp = .now) async -> Duration {
        let began = ContinuousClock.now
        func end(of pause: Duration) -> Timestamp { now + began.duration(to: .now) + pause }
        do {
            let leased = try await store.leaseOutcomes(holder: holder, now: now, until: now + Self.lease)
            hasLease = leased != nil
            guard let leased else { return Self.standby }
            var cursors = OutcomePass.all.indices.map { start(of: $0, after: leased, now: now) }
            hasSwept = true
            var isEnd = true
            for (index, pass) in OutcomePass.all.enumerated() {
                try Task.checkCancellation()
                let query = OutcomeQuery(
                    order: pass.order, after: cursors[index], before: now - pass.delay, limit: Self.pageLimit)
                let page = try await store.awaitingOutcome(query)
                let answers = await questions.ask(page, after: cursors[index], now: now)
                try await store.recordOutcomes(answers.outcomes)
                cursors[index] = answers.next
                let pause = pause(after: answers)
                if pause != nil || !page.entries.isEmpty {
                    guard try await save(cursors, until: end(of: pause ?? .zero)) else { return Self.standby }
                }
                if let pause { return pause }
                isEnd = isEnd && page.isEnd
            }
            guard try await save(cursors, until: end(of: Self.interval)) else { return Self.standby }
            storeProblem.succeeded(to: logger)
            return isEnd ? Self.interval : .zero
        } catch let error as StorageError where error.isRetriable {
            // While the service starts, and while the database is away, which its own log lines say.
            logger.debug("The store was not available for outcomes", metadata: ["error": "\(error)"])
        } catch is CancellationError {
            return .zero
        } catch {
            storeProblem.failed("\(error)", to: logger)
        }
        return Self.interval
    }

    /// Where a pass goes on.
    private func start(of index: Int, after cursors: [OutcomeCursor], now: Timestamp) -> OutcomeCursor {
        let end = now - OutcomePass.all[index].delay
        let first = OutcomeCursor(before: end - Self.firstRange)
        guard index < cursors.count else { return first }
        if cursors[index].time >= end - Self.maxDelay { return cursors[index] }
        if !hasSwept { return first }
        logger.notice(
            "The hub is not asked for the outcomes of some messages, because there are too many",
            metadata: ["from": "\(cursors[index].time)", "until": "\(end)"])
        return OutcomeCursor(before: end)
    }

    /// - Parameter next: when the next page is asked for.
    /// - Returns: `false` if another dispatcher has the lease.
    private func save(_ cursors: [OutcomeCursor], until next: Timestamp) async throws -> Bool {
        hasLease = try await store.saveOutcomes(holder: holder, cursors: cursors, until: next + Self.lease)
        return hasLease
    }

    /// The pause that the hub's answers ask for; `nil` for none. The lease lasts as long, so that no other dispatcher
    /// asks meanwhile.
    private func pause(after answers: OutcomeQuestions.Answers) -> Duration? {
        switch answers.stop {
        case nil:
            if answers.isAnswered { refusals = 0 }
            return nil
        case .wait(let pause): return pause
        case .refused(let error):
            let pause = Self.pausesAfterRefusal[min(refusals, Self.pausesAfterRefusal.count - 1)]
            refusals = min(refusals + 1, Self.pausesAfterRefusal.count)
            // The same sentence every half hour would only hide other lines.
            let level: Logger.Level = refusals == 1 ? .warning : .debug
            logger.log(
                level: level,
                """
                The hub does not tell what became of its messages. Use the Standard tier and a rule with the right \
                Send, or turn HUB_TELEMETRY off
                """,
                metadata: ["hub.error": "\(error)", "pause": "\(pause.wholeSeconds)"])
            return pause
        }
    }

    /// Lets another dispatcher go on at once.
    private func release() async {
        guard hasLease else { return }
        let end = Timestamp(milliseconds: 0)
        // The places are read again, because the sweep may have been cancelled before it stored them.
        guard let cursors = try? await store.leaseOutcomes(holder: holder, now: end, until: end) else { return }
        _ = try? await store.saveOutcomes(holder: holder, cursors: cursors, until: end)
    }
}

extension Duration {
    /// For logs.
    fileprivate var wholeSeconds: Int64 { components.seconds }
}
