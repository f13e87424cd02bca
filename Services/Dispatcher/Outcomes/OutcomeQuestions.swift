import Metrics
import SecurePushCore

/// Asks the hub for the outcomes of a page of notifications: few requests at a time, at a limited rate.
actor OutcomeQuestions {
    /// The answers to a page.
    struct Answers: Sendable {
        /// Why no more was asked.
        enum Stop: Sendable {
            /// The hub asks for a pause, or does not answer.
            case wait(Duration)
            /// The hub tells no outcomes.
            case refused(PushGatewayError)
        }

        var outcomes: [DeliveryOutcomes] = []
        /// Behind the last notification that needs no more questions in this pass.
        var next: OutcomeCursor
        var stop: Stop?
        /// Whether the hub has answered a question.
        var isAnswered = false
    }

    private enum Answer: Sendable {
        case outcome(MessageOutcome)
        /// Not known yet, or not any more.
        case none
        case failed
        case stop(Answers.Stop)
    }

    private struct Question: Sendable {
        var entry: Int
        var delivery: Int
        var message: String
        var recipient: UserName
    }

    /// Requests in flight, and requests in half a second.
    static let groupSize = 10
    private static let groupTime = Duration.milliseconds(500)
    /// Failures in a row after which the hub counts as away. Fewer are those of single messages.
    private static let maxFailures = 10
    private static let pauseAfterFailures = Duration.seconds(30)
    private static let pauses: ClosedRange<Duration> = .seconds(1) ... .seconds(600)

    private let hub: any HubTelemetry
    private var nextGroup = ContinuousClock.now
    private var failures = 0

    init(hub: any HubTelemetry) { self.hub = hub }

    /// Asks for the outcomes of a page.
    ///
    /// A request that fails is left to the next pass. If the hub does not answer at all, or stops the questions, the
    /// pass goes on later where it was.
    ///
    /// - Parameter start: where the page begins.
    func ask(_ page: OutcomePage, after start: OutcomeCursor, now: Timestamp) async -> Answers {
        var answers = Answers(next: start)
        var rest = page.entries[...]
        while !rest.isEmpty {
            let group = Self.group(&rest)
            let questions = Self.questions(group, now: now)
            if !questions.isEmpty {
                await waitForTurn(questions.count)
                await ask(questions, of: group, &answers)
                if answers.stop != nil { return answers }
            }
            if let last = group.last { answers.next = last.cursor }
        }
        answers.next = page.next
        return answers
    }

    /// The next notifications, with about ``groupSize`` messages.
    private static func group(_ rest: inout ArraySlice<AwaitedOutcome>) -> [AwaitedOutcome] {
        var group: [AwaitedOutcome] = []
        var messages = 0
        while messages < groupSize, let entry = rest.popFirst() {
            messages += entry.deliveries.count(where: \.awaitsOutcome)
            group.append(entry)
        }
        return group
    }

    /// What to ask. A message that was sent a moment ago is left to the next pass.
    private static func questions(_ group: [AwaitedOutcome], now: Timestamp) -> [Question] {
        group.enumerated().flatMap { index, entry in
            entry.deliveries.enumerated().compactMap { position, delivery in
                guard delivery.awaitsOutcome, delivery.updatedAt <= now - OutcomePolicy.minAge,
                    let message = delivery.hubMessageID
                else { return nil }
                return Question(entry: index, delivery: position, message: message, recipient: entry.recipient)
            }
        }
    }

    /// Keeps to the rate.
    private func waitForTurn(_ count: Int) async {
        // A cancelled wait ends at once; then the requests end at once too.
        try? await Task.sleep(until: nextGroup)
        nextGroup = .now + Self.groupTime * Double(count) / Double(Self.groupSize)
    }

    private func ask(_ questions: [Question], of group: [AwaitedOutcome], _ answers: inout Answers) async {
        var changed: [Int: DeliveryOutcomes] = [:]
        for (question, answer) in zip(questions, await all(questions)) {
            switch answer {
            case .outcome(let outcome):
                let entry = group[question.entry]
                changed[
                    question.entry,
                    default: DeliveryOutcomes(id: entry.id, attempt: entry.attempt, deliveries: entry.deliveries)
                ].deliveries[question.delivery].outcome = outcome.text
                OutcomeMetrics.count(outcome, entry.deliveries[question.delivery].platform)
                (failures, answers.isAnswered) = (0, true)
            case .none:
                OutcomeMetrics.countRequest("none")
                (failures, answers.isAnswered) = (0, true)
            case .failed:
                OutcomeMetrics.countRequest("failed")
                failures += 1
            case .stop(let stop): if answers.stop == nil { answers.stop = stop }
            }
        }
        answers.outcomes += changed.sorted { $0.key < $1.key }.map(\.value)
        if answers.stop == nil, failures >= Self.maxFailures {
            failures = 0
            answers.stop = .wait(Self.pauseAfterFailures)
        }
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
            return outcome.map { .outcome($0) } ?? .none
        } catch let error as PushGatewayError {
            switch error.code {
            case .throttled:
                OutcomeMetrics.countRequest("throttled")
                let pause = error.retryAfter ?? pauseAfterFailures
                return .stop(.wait(min(max(pause, pauses.lowerBound), pauses.upperBound)))
            case .unauthorized, .rejected, .gone:
                OutcomeMetrics.countRequest("refused")
                return .stop(.refused(error))
            case .unavailable: return .failed
            }
        } catch {
            // Cancelled: the dispatcher stops.
            return .stop(.wait(.zero))
        }
    }
}

/// Counts the requests for outcomes, and the outcomes.
private enum OutcomeMetrics {
    /// The hub's words with a label of their own: a peer must not decide how many values a label has.
    private static let known: Set<String> = [
        "Success", "AbandonedNotificationMessages", "BadChannel", "ChannelDisconnected", "ChannelThrottled", "Dropped",
        "ExpiredChannel", "InvalidCredentials", "InvalidNotificationSize", "NoTargets", "PnsInterfaceError",
        "PnsServerError", "PnsUnavailable", "PnsUnreachable", "Skipped", "Throttled", "UnknownError", "WrongToken",
        "Completed", "NoTargetFound", "Abandoned", "Cancelled", "Canceled",
    ]

    /// Counts the devices of a message, or the message if none is known.
    static func count(_ outcome: MessageOutcome, _ platform: Platform) {
        countRequest("outcome")
        let counts =
            outcome.counts.isEmpty ? [MessageOutcome.Count(name: outcome.text, devices: 1)] : outcome.counts
        for count in counts {
            let name = known.contains(count.name) ? count.name : "other"
            Counter(
                label: "securepush_hub_outcomes_total",
                dimensions: [("platform", platform.rawValue), ("outcome", name)]
            ).increment(by: count.devices)
        }
    }

    /// - Parameter result: `outcome`, `none`, `throttled`, `refused` or `failed`.
    static func countRequest(_ result: String) {
        Counter(label: "securepush_outcome_requests_total", dimensions: [("result", result)]).increment()
    }
}
