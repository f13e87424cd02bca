import Domain
import Foundations
import Testing

@testable import Authentication

private func attempt(_ user: String, _ client: String) -> PasswordThrottle.Attempt {
    PasswordThrottle.Attempt(user: UserName(user), client: ClientAddress(client))
}

struct PasswordQueueTests {
    @Test func `Clients and their users take turns`() throws {
        var queue = PasswordQueue<String>()
        for number in 1...4 { _ = try queue.append("a\(number)", number: queue.makeNumber(), attempt("a", "10.0.0.1")) }
        for number in 1...2 { _ = try queue.append("b\(number)", number: queue.makeNumber(), attempt("b", "10.0.0.1")) }
        for number in 1...2 { _ = try queue.append("c\(number)", number: queue.makeNumber(), attempt("c", "10.0.0.2")) }
        var order: [String] = []
        while let next = queue.next() {
            order.append(next.ticket)
            queue.finish(next.attempt)
        }
        #expect(order == ["a1", "c1", "b1", "c2", "a2", "b2", "a3", "a4"])
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }

    @Test func `One user has few places and those that are checked count`() throws {
        var queue = PasswordQueue<Int>()
        let alice = attempt("alice", "10.0.0.1")
        for number in 0..<PasswordQueue<Int>.maxOfPair {
            _ = try queue.append(number, number: queue.makeNumber(), alice)
        }
        #expect(throws: PasswordRefusal.throttled(.seconds(1))) {
            _ = try queue.append(99, number: queue.makeNumber(), alice)
        }
        _ = queue.next()
        #expect(throws: PasswordRefusal.self) { _ = try queue.append(99, number: queue.makeNumber(), alice) }
        queue.finish(alice)
        _ = try queue.append(99, number: queue.makeNumber(), alice)
        _ = try queue.append(100, number: queue.makeNumber(), attempt("alice", "10.0.0.2"))
    }

    @Test func `A client and all together are bounded`() throws {
        var queue = PasswordQueue<Int>()
        for number in 0..<PasswordQueue<Int>.maxWaitingOfClient {
            _ = try queue.append(number, number: queue.makeNumber(), attempt("u\(number)", "10.0.0.1"))
        }
        #expect(throws: PasswordRefusal.throttled(.seconds(1))) {
            _ = try queue.append(0, number: queue.makeNumber(), attempt("bob", "10.0.0.1"))
        }
        // Each has as little as it can have: nobody gives way.
        var wide = PasswordQueue<Int>()
        for number in 0..<PasswordQueue<Int>.maxWaiting {
            #expect(try wide.append(number, number: wide.makeNumber(), attempt("bob", "10.1.\(number).1")) == nil)
        }
        #expect(throws: PasswordRefusal.busy) {
            _ = try wide.append(0, number: wide.makeNumber(), attempt("bob", "10.9.0.1"))
        }
        #expect(wide.waitingCount == PasswordQueue<Int>.maxWaiting)
    }

    /// Who fills the queue: two addresses, many of one network, the /64 networks of a customer and of a provider, with
    /// the same user or with others.
    private static let crowds: [(String, @Sendable (Int) -> (String, String))] = [
        ("two addresses", { ("u\($0)", "127.0.0.\($0 % 2 + 2)") }),
        ("a few addresses", { ("u\($0)", "203.0.113.\($0 % 5)") }),
        ("many addresses", { ("u\($0)", "198.51.\($0 % 4).\($0)") }),
        ("a user at many addresses", { ("alice", "198.51.100.\($0)") }),
        ("a /48", { ("u\($0)", "2001:db8:7:\(String($0, radix: 16))::1") }),
        ("a /32", { ("u\($0)", "2001:db8:\(String($0, radix: 16)):1::1") }),
        ("several /48 of one /32", { ("u\($0)", "2001:db8:\($0 % 3):\(String($0, radix: 16))::1") }),
    ]

    /// Finding 4 of the second security review: two addresses denied log-ins by password to everybody.
    @Test(arguments: crowds.indices, ["127.0.0.9", "192.0.2.1", "2001:db8:ffff::1", "2a00::1"])
    func `Who fills the queue gives way`(crowd index: Int, newcomer: String) throws {
        let (name, member) = Self.crowds[index]
        // The newcomer is one of them: everybody has one place already.
        if name == "a /32", newcomer.hasPrefix("2001:db8:") { return }
        var queue = PasswordQueue<String>()
        var number = 0
        while queue.waitingCount < PasswordQueue<String>.maxWaiting, number < 10_000 {
            let (user, client) = member(number)
            _ = try? queue.append("crowd \(number)", number: queue.makeNumber(), attempt(user, client))
            number += 1
        }
        try #require(queue.waitingCount == PasswordQueue<String>.maxWaiting, "\(name)")
        let dropped = try queue.append("new", number: queue.makeNumber(), attempt("bob", newcomer))
        #expect(dropped?.hasPrefix("crowd") == true && dropped != "crowd 0", "\(name)")
        #expect(queue.waitingCount == PasswordQueue<String>.maxWaiting)
        // The crowd goes on, and the newcomer stays until it is his turn.
        for more in number..<(number + 1000) {
            let (user, client) = member(more % 256)
            let ticket = try? queue.append("crowd", number: queue.makeNumber(), attempt(user, client))
            #expect(ticket != "new", "\(name)")
        }
        var turn = 0
        while let next = queue.next(), next.ticket != "new" {
            queue.finish(next.attempt)
            turn += 1
        }
        #expect(turn < 8, "\(name): \(turn) before the newcomer")
    }

    @Test func `A user with many tickets gives way to another of the client`() throws {
        var queue = PasswordQueue<String>()
        for user in 0..<16 {
            for _ in 0..<8 {
                _ = try queue.append("\(user)", number: queue.makeNumber(), attempt("u\(user)", "10.0.0.1"))
            }
        }
        let dropped = try queue.append("bob", number: queue.makeNumber(), attempt("bob", "10.0.0.1"))
        #expect(dropped != nil && queue.waitingCount == PasswordQueue<String>.maxWaitingOfClient)
        // Other clients are not asked for their places.
        _ = try queue.append("other", number: queue.makeNumber(), attempt("bob", "10.0.0.2"))
        #expect(try queue.append("eve", number: queue.makeNumber(), attempt("eve", "10.0.0.1")) != "other")
    }

    @Test func `Who goes away gives up his place`() throws {
        var queue = PasswordQueue<String>()
        let first = queue.makeNumber()
        _ = try queue.append("a", number: first, attempt("a", "10.0.0.1"))
        _ = try queue.append("b", number: queue.makeNumber(), attempt("b", "10.0.0.1"))
        #expect(queue.remove(first) == "a")
        #expect(queue.remove(first) == nil)
        #expect(queue.next()?.ticket == "b")
        #expect(queue.next() == nil)
    }
}

struct PasswordThrottleTests {
    private let start = ContinuousClock.now

    @Test func `The wait doubles with each failure and ends with a success`() {
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

    @Test func `Failures are forgotten`() {
        var throttle = PasswordThrottle()
        let alice = attempt("alice", "10.0.0.1")
        for _ in 0..<5 { _ = throttle.failed(alice, at: start) }
        #expect(throttle.wait(of: alice, at: start) != nil)
        let later = start + PasswordThrottle.memory + .seconds(1)
        _ = throttle.failed(alice, at: later)
        #expect(throttle.wait(of: alice, at: later) == nil)
    }

    /// A guesser with many addresses is slowed, and the user's own device is not locked out by him.
    @Test func `Many addresses are one guesser`() {
        var throttle = PasswordThrottle()
        throttle.succeeded(attempt("alice", "192.0.2.1"), at: start)
        for number in 0..<150 { _ = throttle.failed(attempt("alice", "10.0.\(number).1"), at: start) }
        #expect(throttle.wait(of: attempt("alice", "10.9.9.9"), at: start) == PasswordThrottle.maxWaitOfUser)
        #expect(throttle.wait(of: attempt("alice", "192.0.2.1"), at: start) == nil)
        #expect(throttle.wait(of: attempt("bob", "10.9.9.9"), at: start) == nil)
    }

    /// Before, the addresses of one network locked a user out wherever he had not logged in yet.
    @Test(arguments: ["2001:db8:7:%::1", "2001:db8:%:1::1", "203.0.113.%"])
    func `One network locks nobody out elsewhere`(pattern: String) {
        func address(_ number: Int) -> String {
            pattern.replacing("%", with: String(number, radix: pattern.contains(":") ? 16 : 10))
        }
        var throttle = PasswordThrottle()
        throttle.succeeded(attempt("alice", address(201)), at: start)
        for number in 0..<150 { _ = throttle.failed(attempt("alice", address(number)), at: start) }
        // The network itself waits, except for the device that has logged in there.
        #expect(throttle.wait(of: attempt("alice", address(200)), at: start) == PasswordThrottle.maxWaitOfUser)
        #expect(throttle.wait(of: attempt("alice", address(201)), at: start) == nil)
        #expect(throttle.wait(of: attempt("bob", address(200)), at: start) == nil)
        for elsewhere in ["192.0.2.1", "2001:db9::1", "2a00::1"] {
            #expect(throttle.wait(of: attempt("alice", elsewhere), at: start) == nil)
        }
    }

    @Test func `Answers to a client that fails often are held back`() {
        var throttle = PasswordThrottle()
        let holds = (0..<200).map { throttle.failed(attempt("u\($0)", "10.0.0.1"), at: start) }
        #expect(holds.prefix(10).allSatisfy { $0 == .zero })
        #expect(holds[10] == .milliseconds(100) && holds[199] == PasswordThrottle.maxHold)
        #expect(throttle.failed(attempt("x", "10.0.0.2"), at: start) == .zero)
    }

    @Test func `The tables are bounded`() {
        var throttle = PasswordThrottle()
        for number in 0..<100_000 {
            _ = throttle.failed(
                attempt("user\(number)", "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)"), at: start)
        }
        #expect(throttle.recordCount <= 4 * PasswordThrottle.maxRecords)
    }
}
