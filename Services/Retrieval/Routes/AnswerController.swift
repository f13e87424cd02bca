import Authentication
import Domain
import Foundations
import Hummingbird
import Logging
import Metrics
import ServiceRuntime

/// `POST /api/notifications/{id}/answer`: the recipient's answer to a notification with `Answers`.
///
/// There is one answer at most. Only the store decides which, because everything that is read here can change in
/// between, except the question and the times.
struct AnswerController: Sendable {
    let users: UserAuthenticator
    let store: any AnswerStore & NotificationReader
    let sealer: PayloadSealer
    let metrics: AnswerMetrics

    /// The text may be escaped: six bytes for each.
    static let maxBodyBytes = 16 * 1024

    @Sendable func answer(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let given = try await request.jsonBody(upTo: Self.maxBodyBytes).readJSON(.object { AnswerRequest(&$0) })
        guard let id = context.notificationID else { throw NotificationReadController.notFound }
        // A store that refuses has changed since it was read, and a question that has ended never changes again.
        for _ in 0...1 {
            guard let open = try await store.question(id, recipient: user) else { break }
            let isRepeated = try await isRepeated(given, open, id, user, now: .now)
            if isRepeated {
                metrics.repeated.increment()
            } else {
                guard try await take(given, open, id, user) else { continue }
                metrics.ok.increment()
                context.logger.debug("Notification answered", metadata: ["notification_id": "\(id)"])
            }
            // An answer ends the reminders, and withdraws the push from other devices. A repeated request does this if
            // the first request ended before it.
            if !open.state.isRead { try await store.markRead([id], at: .now) }
            return Response(status: .noContent)
        }
        throw NotificationReadController.notFound
    }

    /// Whether the question has this answer already. It was given in time then, whenever it is repeated.
    ///
    /// - Throws: ``Problem`` 404, 409 or 410 if it cannot be answered any more.
    private func isRepeated(
        _ given: AnswerRequest, _ open: OpenQuestion, _ id: NotificationID, _ user: UserName, now: Timestamp
    ) async throws -> Bool {
        let access = open.state.access(at: now)
        if access == .absent { throw NotificationReadController.notFound }
        if access != .revoked, let answer = open.answer, answer.action == given.action,
            try await sealer.text(of: answer, to: id, recipient: user) == given.text
        {
            return true
        }
        if access != .readable {
            metrics.gone.increment()
            throw NotificationReadController.gone(open.state)
        }
        if open.answer != nil {
            metrics.other.increment()
            throw Problem.conflict("The notification has another answer.")
        }
        if open.hasFailed {
            metrics.gone.increment()
            throw Self.failed
        }
        return false
    }

    /// Checks an answer and stores it.
    ///
    /// - Returns: `false` if the question has ended since it was read.
    /// - Throws: ``Problem`` 410 or 422.
    private func take(
        _ given: AnswerRequest, _ open: OpenQuestion, _ id: NotificationID, _ user: UserName
    ) async throws -> Bool {
        guard let question = open.question, question.options.contains(given.action) else {
            throw Self.refusal("/Action", "The sender did not ask for this answer.")
        }
        if let fingerprint = question.challenge {
            guard let challenge = given.challenge else {
                throw Self.refusal("/Challenge", "The sender asks for a challenge.")
            }
            guard try await isSame(challenge, fingerprint, id, user) else {
                guard let count = try await store.countWrongChallenge(id) else { return false }
                metrics.wrongChallenge.increment()
                let left = Question.maxWrongChallenges - count
                guard left > 0 else {
                    metrics.failed.increment()
                    throw Self.failed
                }
                throw Self.refusal("/Challenge", "The challenge is wrong. Tries left: \(left).")
            }
        }
        let text = try given.text.map { try sealer.seal(Array($0.utf8), id: id, recipient: user, as: .answer) }
        return try await store.answer(
            id, Answer(action: given.action, text: text, at: .now, deviceID: given.deviceID),
            textUntil: open.state.expiresAt + Question.textRetention)
    }

    /// Compares in constant time.
    private func isSame(
        _ challenge: String, _ fingerprint: [UInt8], _ id: NotificationID, _ user: UserName
    ) async throws -> Bool {
        let context = Question.challengeContext(id, recipient: user)
        let text = Array(challenge.utf8)
        if let isSame = sealer.isFingerprint(fingerprint, of: text, context: context) { return isSame }
        await sealer.check()
        guard let isSame = sealer.isFingerprint(fingerprint, of: text, context: context) else {
            throw PayloadError(.unknownKey, "The key ring does not hold the key of a challenge. Add it again.")
        }
        return isSame
    }

    private static let failed = Problem.gone("Too many challenges were wrong.")

    private static func refusal(_ pointer: String, _ detail: String) -> Problem {
        var issues = MemberIssues()
        issues.note(pointer, detail)
        return .invalidFields(issues)
    }
}

/// The body: `{"Action","Text","Challenge","DeviceId"}`.
private struct AnswerRequest: Sendable {
    let action: String
    /// `nil` for an empty one, too.
    let text: String?
    let challenge: String?
    let deviceID: String?

    init?(_ json: inout JSONObjectReader) {
        let action = json.required("Action", .text)
        let text = json.optional(
            "Text",
            .text { $0.utf8.count <= Question.maxTextBytes ? nil : "The text may have at most 2,000 bytes of UTF-8." })
        challenge = json.optional("Challenge", .text)
        deviceID = json.optional("DeviceId", .text { DeviceID.isValid($0) ? nil : DeviceID.requirement })
        self.text = text.flatMap { $0.isEmpty ? nil : $0 }
        guard let action else { return nil }
        self.action = action
    }
}

/// Counts answers by result.
struct AnswerMetrics: Sendable {
    let ok: Counter
    let repeated: Counter
    let other: Counter
    let gone: Counter
    let wrongChallenge: Counter
    let failed: Counter

    init(_ metrics: PrometheusMetrics) {
        ok = Metric.answers.counter("ok", in: metrics)
        repeated = Metric.answers.counter("repeated", in: metrics)
        other = Metric.answers.counter("other", in: metrics)
        gone = Metric.answers.counter("gone", in: metrics)
        wrongChallenge = Metric.answers.counter("wrong_challenge", in: metrics)
        failed = Metric.answers.counter("failed", in: metrics)
    }
}
