import Foundation
import Testing

@testable import SecurePushClient

@Suite struct FetchPlanTests {
    private func expectStep(
        _ plan: inout FetchPlan, _ event: FetchPlan.Event, at uptime: TimeInterval, _ expected: FetchPlan.Step,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let step = plan.step(after: event, at: uptime)
        #expect(step == expected, sourceLocation: sourceLocation)
    }

    @Test func tryTimesFitTheTotal() {
        let plan = FetchPlan(deadline: 25, secondsPerTry: 8)
        #expect(plan.timeout(at: 0) == 8)
        #expect(plan.timeout(at: 20) == 5)
        #expect(plan.timeout(at: 24.6) == nil)
        #expect(plan.timeout(at: 100) == nil)
    }

    /// 2.03 - 1.53 is a little less than 0.5 in floating point.
    @Test func wholeMillisecondsAreCompared() {
        var plan = FetchPlan(deadline: 2.03, secondsPerTry: 8)
        #expect(plan.timeout(at: 1.53) == 0.5)
        #expect(plan.timeout(at: 1.531) == nil)
        expectStep(&plan, .transport(.unreachable), at: 0.531, .finish)
        expectStep(&plan, .transport(.unreachable), at: 0.53, .retry(after: 1))
    }

    @Test func delaysGrow() {
        var plan = FetchPlan(deadline: 100, secondsPerTry: 8)
        let delays = (0..<6).map { _ in plan.step(after: .transport(.unreachable), at: 0) }
        #expect(delays == [1, 2, 3, 5, 5, 5].map { .retry(after: $0) })
    }

    @Test func credentialsAreRefreshedOnce() {
        var plan = FetchPlan(deadline: 25, secondsPerTry: 8)
        expectStep(&plan, .response(status: 401, retryAfter: nil), at: 0, .refreshCredentials)
        expectStep(&plan, .response(status: 401, retryAfter: nil), at: 0, .finish)
    }

    @Test(arguments: [200, 204, 301, 302, 400, 403, 404, 410, 418, 422, 600, 0, -1])
    func otherAnswersAreFinal(_ status: Int) {
        var plan = FetchPlan(deadline: 25, secondsPerTry: 8)
        expectStep(&plan, .response(status: status, retryAfter: 1), at: 0, .finish)
    }

    @Test func aWaitThatDoesNotFitEndsThePlan() {
        var plan = FetchPlan(deadline: 25, secondsPerTry: 8)
        expectStep(&plan, .response(status: 429, retryAfter: 24), at: 0, .retry(after: 24))
        expectStep(&plan, .response(status: 503, retryAfter: 25), at: 0, .finish)
        expectStep(&plan, .response(status: 503, retryAfter: .infinity), at: 0, .finish)
        expectStep(&plan, .transport(.timedOut), at: 24, .finish)
    }

    @Test(arguments: ["+3", "-3", " 3", "3 ", "", "3.0", "٣"]) func secondsAreDigitsOnly(_ text: String) {
        #expect(RetryAfter.seconds(text, at: Date()) == nil)
        #expect(RetryAfter.seconds("3", at: Date()) == 3)
    }
}
