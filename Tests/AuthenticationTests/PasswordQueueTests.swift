import SecurePushCore
import Testing

@testable import Authentication

private func attempt(_ user: String, _ client: String) -> PasswordThrottle.Attempt {
    PasswordThrottle.Attempt(user: UserName(user), client: ClientAddress(client))
}

@Suite struct PasswordQueueTests {
    @Test func clientsAndTheirUsersTakeTurns() throws {
        var queue = PasswordQueue<String>()
        for number in 1...4 { try queue.append("a\(number)", number: queue.makeNumber(), attempt("a", "10.0.0.1")) }
        for number in 1...2 { try queue.append("b\(number)", number: queue.makeNumber(), attempt("b", "10.0.0.1")) }
        for number in 1...2 { try queue.append("c\(number)", number: queue.makeNumber(), attempt("c", "10.0.0.2")) }
        var order: [String] = []
        while let next = queue.next() {
            order.append(next.ticket)
            queue.finish(next.attempt)
        }
        #expect(order == ["a1", "c1", "b1", "c2", "a2", "b2", "a3", "a4"])
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }

    @Test func oneUserHasFewPlacesAndThoseThatAreCheckedCount() throws {
        var queue = PasswordQueue<Int>()
        let alice = attempt("alice", "10.0.0.1")
        for number in 0..<PasswordQueue<Int>.maxOfPair { try queue.append(number, number: queue.makeNumber(), alice) }
        #expect(throws: PasswordRefusal.throttled(.seconds(1))) {
            try queue.append(99, number: queue.makeNumber(), alice)
        }
        _ = queue.next()
        #expect(throws: PasswordRefusal.self) { try queue.append(99, number: queue.makeNumber(), alice) }
        queue.finish(alice)
        try queue.append(99, number: queue.makeNumber(), alice)
        try queue.append(100, number: queue.makeNumber(), attempt("alice", "10.0.0.2"))
    }

    @Test func aClientAndAllTogetherAreBounded() throws {
        var queue = PasswordQueue<Int>()
        for number in 0..<PasswordQueue<Int>.maxWaitingOfClient {
            try queue.append(number, number: queue.makeNumber(), attempt("u\(number)", "10.0.0.1"))
        }
        #expect(throws: PasswordRefusal.throttled(.seconds(1))) {
            try queue.append(0, number: queue.makeNumber(), attempt("bob", "10.0.0.1"))
        }
        var client = 0
        while queue.waitingCount < PasswordQueue<Int>.maxWaiting {
            client += 1
            try queue.append(0, number: queue.makeNumber(), attempt("bob", "10.1.\(client / 250).\(client % 250)"))
        }
        #expect(throws: PasswordRefusal.busy) {
            try queue.append(0, number: queue.makeNumber(), attempt("bob", "10.9.0.1"))
        }
    }

    @Test func whoGoesAwayGivesUpHisPlace() throws {
        var queue = PasswordQueue<String>()
        let first = queue.makeNumber()
        try queue.append("a", number: first, attempt("a", "10.0.0.1"))
        try queue.append("b", number: queue.makeNumber(), attempt("b", "10.0.0.1"))
        #expect(queue.remove(first) == "a")
        #expect(queue.remove(first) == nil)
        #expect(queue.next()?.ticket == "b")
        #expect(queue.next() == nil)
    }
}

@Suite struct PasswordThrottleTests {
    private let start = ContinuousClock.now

    @Test func theWaitDoublesWithEachFailureAndEndsWithASuccess() {
        var throttle = PasswordThrottle()
        let (alice, bob) = (attempt("alice", "10.0.0.1"), attempt("bob", "10.0.0.1"))
        var now = start
        var waits: [Duration] = []
        for _ in 0..<16 {
            _ = throttle.failed(alice, at: now)
            let wait = throttle.wait(of: alice, at: now) ?? .zero
            waits.append(wait)
            #expect(throttle.wait(of: bob, at: now) == nil)
            now += wait
            #expect(throttle.wait(of: alice, at: now) == nil)
        }
        let seconds = [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
        #expect(waits == seconds.map { .seconds($0) })
        throttle.succeeded(alice, at: now)
        for _ in 0..<4 { _ = throttle.failed(alice, at: now) }
        #expect(throttle.wait(of: alice, at: now) == nil)
    }

    @Test func failuresAreForgotten() {
        var throttle = PasswordThrottle()
        let alice = attempt("alice", "10.0.0.1")
        for _ in 0..<5 { _ = throttle.failed(alice, at: start) }
        #expect(throttle.wait(of: alice, at: start) != nil)
        let later = start + PasswordThrottle.memory + .seconds(1)
        _ = throttle.failed(alice, at: later)
        #expect(throttle.wait(of: alice, at: later) == nil)
    }

    /// A guesser with many addresses is slowed, and the user's own device is not locked out by him.
    @Test func manyAddressesAreOneGuesser() {
        var throttle = PasswordThrottle()
        throttle.succeeded(attempt("alice", "192.0.2.1"), at: start)
        for number in 0..<150 { _ = throttle.failed(attempt("alice", "10.0.\(number).1"), at: start) }
        #expect(throttle.wait(of: attempt("alice", "10.9.9.9"), at: start) == PasswordThrottle.maxWaitOfUser)
        #expect(throttle.wait(of: attempt("alice", "192.0.2.1"), at: start) == nil)
        #expect(throttle.wait(of: attempt("bob", "10.9.9.9"), at: start) == nil)
    }

    @Test func answersToAClientThatFailsOftenAreHeldBack() {
        var throttle = PasswordThrottle()
        let holds = (0..<200).map { throttle.failed(attempt("u\($0)", "10.0.0.1"), at: start) }
        #expect(holds.prefix(10).allSatisfy { $0 == .zero })
        #expect(holds[10] == .milliseconds(100) && holds[199] == PasswordThrottle.maxHold)
        #expect(throttle.failed(attempt("x", "10.0.0.2"), at: start) == .zero)
    }

    @Test func theTablesAreBounded() {
        var throttle = PasswordThrottle()
        for number in 0..<100_000 {
            _ = throttle.failed(
                attempt("user\(number)", "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)"), at: start)
        }
        #expect(throttle.recordCount <= 3 * PasswordThrottle.maxRecords)
    }
}
