import Foundations
import PushServices
import StackKit
import TestSupport
import Testing

/// What every connector does, whatever its push service. A test of a connector makes a harness and runs ``run()``.
struct ConnectorConformance<Harness: ConnectorHarness> {
    let harness: Harness

    init(_ harness: Harness) { self.harness = harness }

    /// All rules, one after another: they share the prepared answers of the service.
    func run() async throws {
        try await takes()
        try await saysWhenToTryAgain()
        try await tellsDeadDevices()
        try await tellsRefusedCredentials()
        try await tellsLargePushes()
        try await followsNoRedirect()
        try await tellsLostAnswers()
        try await endsAtTheDeadline()
        try await endsWhenCancelled()
        try await survivesBadAnswers()
        try await survivesEndsOfConnections()
        try await sendsManyAtOnce()
        try await checksCredentials()
        try await endsAfterClose()
    }

    // MARK: Rules

    private func takes() async throws {
        let result = try await push("taken")
        expect(result, .accepted, "a push")
        #expect(try await harness.taken() == ["taken"], "a push arrives once, as it is")
    }

    private func saysWhenToTryAgain() async throws {
        let cases: [(ServiceAnswer, PushAnswer)] = [
            (.throttled(after: nil), .throttled(after: harness.waitWhenThrottled)),
            (.throttled(after: 7), .throttled(after: .seconds(7))),
            (.unavailable(after: nil), .failed(after: nil)), (.unavailable(after: 7), .failed(after: .seconds(7))),
            (.serverError, .failed(after: nil)),
        ]
        for (answer, wanted) in cases { expect(try await push("again", answer), wanted, "\(answer)") }
        try await isTaken("again", times: 0)
    }

    private func tellsDeadDevices() async throws {
        let result = await send(try await harness.requestToGoneDevice())
        guard case .gone = result.answer else {
            Issue.record("a device that is gone: \(result)")
            return
        }
        check(result)
    }

    private func tellsRefusedCredentials() async throws {
        let result = try await push("refused", .credentialRefused)
        expect(result, harness.answerToRefusedCredentials, "refused credentials")
        #expect(!result.reason.isEmpty)
        expect(try await push("after a refusal"), .accepted, "a push after refused credentials")
    }

    private func tellsLargePushes() async throws {
        expect(await send(try await harness.tooLargeRequest()), .tooLarge, "a push that is too large")
    }

    private func followsNoRedirect() async throws {
        expect(try await push("redirected", .redirect), .invalid, "a redirect")
        try await isTaken("redirected", times: 0)
    }

    private func tellsLostAnswers() async throws {
        expect(try await push("lost", .lost), .unanswered, "a lost answer")
        try await isTaken("lost", times: 1)
        // The status has come. To send the push again would show it twice.
        expect(try await push("half", .half), .accepted, "half an answer")
        try await isTaken("half", times: 1)
    }

    private func endsAtTheDeadline() async throws {
        // The time until the deadline is not for connecting.
        expect(try await push("before silence"), .accepted, "a push before silence")
        let request = try await harness.request("silence")
        try await harness.prepare([.silence])
        let (start, limit) = (ContinuousClock.now, Duration.seconds(5))
        let result = await harness.connector.push(request, deadline: start + limit)
        #expect(ContinuousClock.now - start >= limit, "silence ends at the deadline, not before")
        expect(result, .unanswered, "silence")
        // A deadline that has passed is no reason to wait.
        let late = await harness.connector.push(request, deadline: .now - .seconds(1))
        #expect([.unreachable, .unanswered].contains(late.answer), "\(late)")
        try await isTaken("silence", times: 0)
    }

    private func endsWhenCancelled() async throws {
        let request = try await harness.request("cancelled")
        let received = try await harness.received()
        try await harness.prepare([.silence])
        let task = Task { await send(request) }
        try await expectEventually { try await harness.received() > received }
        task.cancel()
        expect(await task.value, .unanswered, "a push that is cancelled after it was sent")
        // One that is cancelled already is not sent.
        let early = Task {
            while !Task.isCancelled { await Task.yield() }
            return await send(request)
        }
        early.cancel()
        let result = await early.value
        #expect([.unreachable, .unanswered].contains(result.answer), "\(result)")
    }

    private func survivesBadAnswers() async throws {
        expect(try await push("huge", .huge), .accepted, "an answer of 10 MB")
        try await isTaken("huge", times: 1)
        expect(try await push("slow", .slow), .accepted, "a slow answer")
        expect(try await push("after bad answers"), .accepted, "a push after bad answers")
    }

    /// What was not processed may be sent again by the client; what may have been is not.
    private func survivesEndsOfConnections() async throws {
        for answer in [ServiceAnswer.close, .goAway] {
            let text = "connection \(answer)"
            let result = try await push(text, answer)
            #expect([.accepted, .unreachable, .unanswered].contains(result.answer), "\(answer): \(result)")
            try await isTaken(text, times: result.answer == .accepted ? 1 : 0)
            expect(try await push("after \(answer)"), .accepted, "a push after \(answer)")
        }
    }

    private func sendsManyAtOnce() async throws {
        let texts = (0..<200).map { "many \($0)" }
        let results = try await withThrowingTaskGroup(of: PushResult.self) { group in
            for text in texts { group.addTask { try await push(text) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { $0.answer == .accepted } == texts.count, "many at once")
        let taken = try await harness.taken().filter { $0.hasPrefix("many ") }
        #expect(taken.sorted() == texts.sorted(), "many at once arrive once each")
    }

    private func checksCredentials() async throws {
        #expect(await harness.connector.checkCredentials(deadline: .now + patience) == .good)
    }

    private func endsAfterClose() async throws {
        let request = try await harness.request("closed")
        await harness.connector.close(deadline: .now + .seconds(5))
        expect(await send(request), .unreachable, "a push after the end")
        try await isTaken("closed", times: 0)
        // A second end changes nothing.
        await harness.connector.close(deadline: .now + .seconds(5))
    }

    // MARK: Help

    /// Sends a push for which the service has prepared an answer.
    private func push(_ text: String, _ answers: ServiceAnswer...) async throws -> PushResult {
        let request = try await harness.request(text)
        if !answers.isEmpty { try await harness.prepare(answers) }
        return await send(request)
    }

    private func send(_ request: PushRequest) async -> PushResult {
        await harness.connector.push(request, deadline: .now + patience)
    }

    private func expect(
        _ result: PushResult, _ wanted: PushAnswer, _ rule: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.answer == wanted, rule, sourceLocation: sourceLocation)
        check(result, sourceLocation: sourceLocation)
    }

    /// A reason may be logged.
    private func check(_ result: PushResult, sourceLocation: SourceLocation = #_sourceLocation) {
        let isShort = result.reason.utf8.count <= 64 && ByteSet.visible.union(ByteSet(" ")).containsAll(result.reason)
        #expect(isShort && !result.reason.contains("://"), "\(result.reason)", sourceLocation: sourceLocation)
    }

    private func isTaken(
        _ text: String, times: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let taken = try await harness.taken()
        #expect(taken.count { $0 == text } == times, "\(text)", sourceLocation: sourceLocation)
    }
}
