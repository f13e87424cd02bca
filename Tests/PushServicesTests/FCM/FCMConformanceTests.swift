import Foundations
import StackKit
import TestSupport
import Testing

@testable import PushServices

/// The connector of FCM against a strict service that google-auth and firebase-admin have tried.
@Suite(.timeLimit(.minutes(10))) struct FCMConformanceTests {
    @Test(arguments: [([], false), ([], true), (["--http1"], false)] as [([String], Bool)])
    func `FCM does what every connector does`(options: [String], isInstallation: Bool) async throws {
        try await withPushService(.fcm, options) { service in
            try await ConnectorConformance(try await FCMHarness(service, isInstallation: isInstallation)).run()
            let state = try await service.state()
            #expect(state.problems.isEmpty)
            // The first, and the one in place of that which was refused.
            #expect(state.counts["tokens.requests"] == 2)
            let pushes = try await service.pushes()
            let member = isInstallation ? "fid" : "token"
            let hasMember = pushes.allSatisfy { push in
                push.text.flatMap { JSONValue(text: $0) }?["message"]?[member] != nil
            }
            #expect(hasMember && !pushes.isEmpty)
        }
    }

    @Test func `What the service finds wrong by itself has the same meanings`() async throws {
        try await withPushService(.fcm) { service in
            let harness = try await FCMHarness(service)
            func push(_ request: PushRequest) async -> PushResult {
                await harness.connector.push(request, deadline: .now + patience)
            }
            let other = try await service.device(.fcm(project: "another"))
            #expect(await push(FCMHarness.request("x", to: other)).answer == .wrongSender)
            var request = try await harness.request("x")
            request.address = .handle("no-token")
            #expect(await push(request) == PushResult(.wrongAddress, reason: "INVALID_ARGUMENT", status: 400))
            request = try await harness.request("x")
            request.body = Array(#"{"message":{"data":{"google.x":"y"}}}"#.utf8)
            #expect(await push(request) == PushResult(.invalid, reason: "INVALID_ARGUMENT", status: 400))
            request.body = Array(#"{"message":{"android":{"priority":"urgent"}}}"#.utf8)
            #expect(await push(request).reason == "INVALID_ARGUMENT message.android.priority")
            // The token ends before its time.
            try await service.expireTokens()
            #expect(await push(try await harness.request("expired")).answer == .accepted)
            #expect(try await service.state().counts["tokens.requests"] == 2)
            await harness.connector.close(deadline: .now + .seconds(5))
            let powerless = try await FCMHarness(service, maySend: false)
            #expect(await powerless.connector.push(request, deadline: .now + patience).answer == .credentialRefused)
            #expect(
                await powerless.connector.checkCredentials(deadline: .now + patience)
                    == .refused(reason: "PERMISSION_DENIED"))
            await powerless.connector.close(deadline: .now + .seconds(5))
        }
    }

    /// What the token service does, and what the push ends as.
    private static let tokenAnswers: [(String, PushAnswer)] = [
        (#"{"status":400,"reason":"invalid_grant"}"#, .credentialRefused),
        (#"{"status":401,"reason":"invalid_client"}"#, .credentialRefused),
        (#"{"status":500,"reason":"server_error"}"#, .failed(after: .seconds(1))),
        (
            #"{"status":503,"reason":"temporarily_unavailable","headers":{"retry-after":"9"}}"#,
            .failed(after: .seconds(9))
        ),
        (#"{"status":200,"body":"{}"}"#, .failed(after: .seconds(1))),
        (#"{"status":200,"body":"<html>"}"#, .failed(after: .seconds(1))),
        (#"{"status":302,"headers":{"location":"https://localhost/"},"body":""}"#, .failed(after: .seconds(1))),
        (#"{"fault":"silence"}"#, .unreachable), (#"{"fault":"close"}"#, .unreachable),
        (#"{"fault":"reset"}"#, .unreachable),
        // A body that breaks off, or does not end, is no token.
        (#"{"fault":"half"}"#, .failed(after: .seconds(1))), (#"{"fault":"huge"}"#, .failed(after: .seconds(1))),
    ]

    @Test(arguments: tokenAnswers)
    func `A token service in trouble is asked once, and gets no push to the devices`(
        answer: String, wanted: PushAnswer
    ) async throws {
        try await withPushService(.fcm) { service in
            let harness = try await FCMHarness(service)
            let request = try await harness.request("x")
            try await service.answerNext([answer], at: .token)
            let results = await withTaskGroup(of: PushResult.self) { group in
                for _ in 0..<20 {
                    group.addTask { await harness.connector.push(request, deadline: .now + .seconds(60)) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.allSatisfy { $0.answer.isLike(wanted) }, "\(results)")
            let counts = try await service.state().counts
            #expect(counts["tokens.requests"] == 1 && counts["requests.all", default: 0] == 0, "\(counts)")
            await harness.connector.close(deadline: .now + .seconds(5))
        }
    }
}

extension PushAnswer {
    /// Whether it is the same, but for the time that has passed of a wait.
    fileprivate func isLike(_ other: PushAnswer) -> Bool {
        guard case .failed(let one?) = self, case .failed(let wait?) = other else { return self == other }
        return one <= wait && one > .zero
    }
}
