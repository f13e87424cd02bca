import ChaosChecker
import Foundation
import NIOHTTP1
import StackKit
import Synchronization

/// The application server: sends every notification until it is accepted, under one idempotency key each, so that
/// repeating a request whose answer was lost is safe.
final class Sender: Sendable {
    /// How long one notification is tried before it counts as never accepted.
    private static let patience = Duration.seconds(180)

    private struct Answer: Decodable {
        let Id: String
    }

    private struct Pace {
        var next = 0
        var time = ContinuousClock.now
    }

    private let stack: Stack
    private let history: HistoryWriter
    private let progress: Progress
    private let pace = Mutex(Pace())

    init(stack: Stack, history: HistoryWriter, progress: Progress) {
        (self.stack, self.history, self.progress) = (stack, history, progress)
    }

    static func recipient(_ number: Int, _ options: ChaosOptions) -> String { "user\(number % options.recipients)" }

    /// Returns once each is accepted or given up.
    func run() async {
        pace.withLock { $0.time = .now }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<stack.options.inFlight {
                group.addTask {
                    while !Task.isCancelled, let (number, time) = self.take() {
                        await pause(max(.zero, time - .now))
                        while !self.progress.allows(number), !Task.isCancelled { await pause(.milliseconds(20)) }
                        await self.send(number)
                    }
                }
            }
        }
        progress.finishSending()
    }

    /// The next number, and when to send it. What could not be sent in time is not made up for: an outage stretches
    /// the run instead of ending in a flood.
    private func take() -> (Int, ContinuousClock.Instant)? {
        pace.withLock { pace in
            guard pace.next < stack.options.count else { return nil }
            defer { pace.next += 1 }
            pace.time = max(pace.time + .seconds(1) / stack.options.pace, .now)
            return (pace.next, pace.time)
        }
    }

    private func send(_ number: Int) async {
        let recipient = Self.recipient(number, stack.options)
        let deadline = ContinuousClock.now + Self.patience
        let reminders = Self.isChosen(number, stack.options.remindInterval) ? ChaosOptions.reminderCount : 0
        let body = Self.body(recipient, stack.secrets.payload(number), reminders: reminders)
        func note(_ phase: HistoryEvent.Send.Phase, _ id: String? = nil, _ status: Int? = nil) {
            history.write(
                .send(
                    .init(
                        time: HistoryWriter.now, phase: phase, number: number, recipient: recipient, id: id,
                        status: status, reminders: reminders > 0 ? reminders : nil)))
        }
        var attempt = 0
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let ingest = stack.ingests[(number + attempt) % stack.ingests.count]
            attempt += 1
            note(.invoke)
            do {
                let answer = try await stack.http.send(
                    .POST, port: ingest.port, "/api/notifications", headers: ["Idempotency-Key": "chaos-\(number)"],
                    bearer: stack.secrets.apiKey, json: body)
                if answer.status == 201 {
                    let id = try answer.decoded(Answer.self).Id
                    note(.ok, id, 201)
                    progress.accept()
                    if Self.isChosen(number + 1, stack.options.revokeEvery) { await revoke(id, number) }
                    return
                }
                let isFinal = (400..<500).contains(answer.status) && answer.status != 409 && answer.status != 429
                note(isFinal ? .fail : .unknown, nil, answer.status)
                if isFinal { return }
            } catch {
                note(.unknown)
            }
            await pause(.milliseconds(Int.random(in: 100...400)))
        }
    }

    /// Whether a number is one of every so many.
    private static func isChosen(_ number: Int, _ interval: Int) -> Bool { interval > 0 && number % interval == 0 }

    private static func body(_ recipient: String, _ payload: String, reminders: Int) -> String {
        let steps = Array(repeating: "\"\(ChaosOptions.reminderSeconds)s\"", count: reminders).joined(separator: ",")
        let remind = reminders > 0 ? #","Remind":[\#(steps)]"# : ""
        return #"{"Recipient":"\#(recipient)","Payload":"\#(payload)"\#(remind)}"#
    }

    /// Takes a notification back, in most cases after it was pushed, until that is answered.
    private func revoke(_ id: String, _ number: Int) async {
        await pause(.milliseconds(Int.random(in: 0...1500)))
        let deadline = ContinuousClock.now + Self.patience
        var attempt = 0
        while ContinuousClock.now < deadline, !Task.isCancelled {
            let ingest = stack.ingests[(number + attempt) % stack.ingests.count]
            attempt += 1
            let answer = try? await stack.http.send(
                .DELETE, port: ingest.port, "/api/notifications/\(id)", bearer: stack.secrets.apiKey)
            if answer?.status == 204 {
                history.write(.revoke(.init(time: HistoryWriter.now, id: id)))
                return
            }
            await pause(.milliseconds(Int.random(in: 100...400)))
        }
    }
}
