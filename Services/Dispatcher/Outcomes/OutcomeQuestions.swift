import Domain
import Foundations
import Logging

/// Asks the hubs for the outcomes of a page of notifications: few requests at a time, at a limited rate.
actor OutcomeQuestions {
    /// The answers to a page.
    struct Answers: Sendable {
        /// The outcome of one message. It counts once it is stored.
        struct MessageAnswer: Sendable {
            var outcome: MessageOutcome
            var platform: Platform
        }

        var outcomes: [DeliveryOutcomes] = []
        var messages: [MessageAnswer] = []
        /// Behind the last notification that needs no more questions in this pass.
        var next: OutcomeCursor
    }

    private enum Answer: Sendable {
        case outcome(MessageOutcome)
        /// Not known yet, or not any more.
        case none
        case failed
        /// The hub asks for a pause, or reports no outcomes at all.
        case stop(PushGatewayError)
        /// The dispatcher stops.
        case cancelled
    }

    private struct Question: Sendable {
        var entry: Int
        var delivery: Int
        var message: String
        var recipient: UserName
        var hub: String
    }

    /// Notifications whose messages are asked for at the same time.
    private struct Group {
        var entries: [AwaitedOutcome] = []
        var questions: [Question] = []
    }

    /// Requests in flight, and requests in half a second.
    static let groupSize = 10
    private static let groupTime = Duration.milliseconds(500)
    /// No group of a page begins later. With the 20 s that a request takes at most, because it may need a second token,
    /// that is less than ``OutcomeWatch/lease``.
    private static let pageTime = Duration.seconds(30)

    private let hub: any HubTelemetry
    private let logger: Logger
    private let clock: @Sendable () -> Timestamp
    private var nextGroup = ContinuousClock.now
    private var pauses = OutcomePauses()

    init(hub: any HubTelemetry, logger: Logger, clock: @escaping @Sendable () -> Timestamp) {
        self.hub = hub
        self.logger = logger
        self.clock = clock
    }

    /// The pause while no hub may be asked; `nil` if one may be.
    func pause(now: Timestamp) -> Duration? { pauses.pause(of: hub.hubNames, now: now) }

    /// Asks for the outcomes of a page.
    ///
    /// A request that fails is left to the next pass, and so are the messages of a hub that pauses while another hub
    /// may be asked. Once no hub may be asked, the pass goes on later where it was, and nothing is lost.
    ///
    /// - Parameter start: where the page begins.
    func ask(_ page: OutcomePage, after start: OutcomeCursor) async -> Answers {
        let hubs = hub.hubNames
        pauses.keep(hubs)
        defer { pauses.endPage(now: clock()) }
        let end = clock() + Self.pageTime
        var answers = Answers(next: start)
        var rest = page.entries[...]
        while !rest.isEmpty {
            if answers.next != start, clock() >= end { return answers }
            let group = takeGroup(&rest)
            if !group.questions.isEmpty {
                await waitForTurn(group.questions.count)
                let isWhole = await ask(group, &answers)
                if !isWhole || pauses.pause(of: hubs, now: clock()) != nil { return answers }
            }
            if let last = group.entries.last { answers.next = last.cursor }
        }
        answers.next = page.next
        return answers
    }

    /// The next notifications, with at most ``groupSize`` questions. One notification has fewer: one per platform.
    private func takeGroup(_ rest: inout ArraySlice<AwaitedOutcome>) -> Group {
        let now = clock()
        var group = Group()
        while let entry = rest.first {
            let questions = questions(about: entry, at: group.entries.count, now: now)
            if !group.entries.isEmpty, group.questions.count + questions.count > Self.groupSize { break }
            rest.removeFirst()
            group.entries.append(entry)
            group.questions += questions
        }
        return group
    }

    /// The questions about a notification. A message that was sent a moment ago is left to the next pass.
    private func questions(about entry: AwaitedOutcome, at index: Int, now: Timestamp) -> [Question] {
        let name = hub.hubName(for: entry.recipient)
        if pauses.isPaused(name, now: now) { return [] }
        return entry.deliveries.enumerated().compactMap { position, delivery in
            guard delivery.awaitsOutcome, delivery.updatedAt <= now - OutcomePolicy.minAge,
                let message = delivery.hubMessageID
            else { return nil }
            return Question(
                entry: index, delivery: position, message: message, recipient: entry.recipient, hub: name)
        }
    }

    /// Keeps to the rate.
    private func waitForTurn(_ count: Int) async {
        // A cancelled wait ends at once; then the requests end at once too.
        try? await Task.sleep(until: nextGroup)
        nextGroup = .now + Self.groupTime * Double(count) / Double(Self.groupSize)
    }

    /// - Returns: `false` if the dispatcher stops meanwhile.
    private func ask(_ group: Group, _ answers: inout Answers) async -> Bool {
        var changed: [Int: DeliveryOutcomes] = [:]
        var stops: [String: PushGatewayError] = [:]
        var isWhole = true
        for (question, answer) in zip(group.questions, await all(group.questions)) {
            switch answer {
            case .outcome(let outcome):
                let entry = group.entries[question.entry]
                changed[
                    question.entry,
                    default: DeliveryOutcomes(id: entry.id, attempt: entry.attempt, deliveries: entry.deliveries)
                ].deliveries[question.delivery].outcome = outcome.text
                answers.messages.append(.init(outcome: outcome, platform: entry.deliveries[question.delivery].platform))
                pauses.answered(question.hub)
            case .none: pauses.answered(question.hub)
            case .failed: pauses.failed(question.hub)
            // The other requests of the group were made already: several stops of a hub count as one.
            case .stop(let error): stops[question.hub] = stops[question.hub] ?? error
            case .cancelled: isWhole = false
            }
        }
        answers.outcomes += changed.sorted { $0.key < $1.key }.map(\.value)
        pause(stops)
        return isWhole
    }

    private func pause(_ stops: [String: PushGatewayError]) {
        let now = clock()
        for (name, error) in stops {
            if error.code == .throttled {
                pauses.throttled(name, for: error.retryAfter, now: now)
            } else {
                let (pause, isFirst) = pauses.refused(name, now: now)
                var metadata: Logger.Metadata = ["hub.error": "\(error)", "pause": "\(pause.components.seconds)"]
                if !name.isEmpty { metadata["hub"] = "\(name)" }
                // A warning every half hour would only hide other lines.
                logger.log(
                    level: isFirst ? .warning : .debug,
                    """
                    The hub does not report the outcomes of its messages. Use the Standard tier and a rule with the \
                    Send right, or set HUB_TELEMETRY=false
                    """,
                    metadata: metadata)
            }
        }
        pauses.endGroup(now: now)
    }

    /// The answers in the order of the questions, which are asked at the same time.
    private func all(_ questions: [Question]) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { [hub] tasks in
            for (index, question) in questions.enumerated() {
                tasks.addTask { (index, await Self.ask(question, hub)) }
            }
            var answers = [Answer](repeating: .none, count: questions.count)
            for await (index, answer) in tasks { answers[index] = answer }
            return answers
        }
    }

    private static func ask(_ question: Question, _ hub: any HubTelemetry) async -> Answer {
        do {
            let outcome = try await hub.outcome(ofMessage: question.message, to: question.recipient)
            OutcomeMetrics.countRequest(outcome == nil ? "none" : "outcome")
            return outcome.map { .outcome($0) } ?? .none
        } catch let error as PushGatewayError {
            switch error.code {
            case .throttled:
                OutcomeMetrics.countRequest("throttled")
                return .stop(error)
            case .unauthorized, .rejected, .gone:
                OutcomeMetrics.countRequest("refused")
                return .stop(error)
            case .unavailable:
                OutcomeMetrics.countRequest("failed")
                return .failed
            }
        } catch {
            return .cancelled
        }
    }
}
