import Testing

@testable import AMQP

@Suite struct PublisherStateMachineTests {
    private typealias Machine = PublisherStateMachine<Int>
    private let soon = ContinuousClock.now + .seconds(5)
    private let lost = AMQPError(.connectionLost, "gone")

    private func machine(limit: Int = 8, batches sizes: [Int]) -> Machine {
        var machine = Machine(limit: limit)
        for (waiter, size) in sizes.enumerated() {
            #expect(machine.submit(messages(0..<size, to: "q\(waiter)"), waiter: waiter, deadline: soon) == nil)
        }
        return machine
    }

    private func writeAll(_ machine: inout Machine) -> Int {
        var count = 0
        while machine.nextToWrite() != nil { count += 1 }
        return count
    }

    @Test func `Multiple confirms a range`() {
        var machine = machine(batches: [2, 1, 3])
        #expect(writeAll(&machine) == 6)
        let first = machine.confirmed(tag: 4, isMultiple: true, isRefusal: false)
        #expect(first.map(\.waiter) == [0, 1])
        #expect(first.allSatisfy { failures($0.results).isEmpty })
        let second = machine.confirmed(tag: 0, isMultiple: true, isRefusal: false)
        #expect(second.map(\.waiter) == [2])
        #expect(second.first?.results.count == 3)
        #expect(machine.isIdle)
    }

    @Test func `Confirms out of order`() {
        var machine = machine(batches: [1, 1, 1])
        #expect(writeAll(&machine) == 3)
        #expect(machine.confirmed(tag: 3, isMultiple: false, isRefusal: false).map(\.waiter) == [2])
        #expect(machine.inFlight == 3)
        #expect(machine.confirmed(tag: 1, isMultiple: false, isRefusal: true).map(\.waiter) == [0])
        #expect(machine.confirmed(tag: 3, isMultiple: false, isRefusal: false).isEmpty)
        #expect(machine.confirmed(tag: 2, isMultiple: false, isRefusal: false).map(\.waiter) == [1])
        #expect(machine.isIdle)
    }

    @Test func `Refusal is a failure of its message only`() {
        var machine = machine(batches: [3])
        #expect(writeAll(&machine) == 3)
        #expect(machine.confirmed(tag: 2, isMultiple: false, isRefusal: true).isEmpty)
        let done = machine.confirmed(tag: 3, isMultiple: true, isRefusal: false)
        #expect(done.first.map { failures($0.results).map(\.code) } == [.nacked])
        if case .success? = done.first?.results[1] { Issue.record("the second message was refused") }
    }

    /// One message that is never confirmed keeps the window shut for all that come after it.
    @Test func `A message that is never confirmed is found once it fills the window`() {
        var machine = machine(limit: 4, batches: [1, 3])
        #expect(writeAll(&machine) == 4)
        #expect(machine.submit(messages(0..<1, to: "q2"), waiter: 2, deadline: soon) == nil)
        _ = machine.confirmed(tag: 2, isMultiple: false, isRefusal: false)
        _ = machine.confirmed(tag: 3, isMultiple: false, isRefusal: false)
        _ = machine.confirmed(tag: 4, isMultiple: false, isRefusal: false)
        #expect(!machine.canWrite)
        #expect(machine.stuckMessage == nil, "its time is not up")
        let late = AMQPError(.timeout, "late")
        #expect(machine.expire(now: soon + .seconds(1), late).map(\.waiter) == [0, 2])
        #expect(machine.stuckMessage == nil, "nothing waits for it")
        #expect(machine.submit(messages(0..<1, to: "q3"), waiter: 3, deadline: soon + .seconds(9)) == nil)
        #expect(machine.stuckMessage?.routingKey == "q0")
        #expect(machine.disconnected(lost).map(\.waiter) == [3])
        #expect(machine.stuckMessage == nil)
    }

    @Test func `Refusals are counted from the first of their key until one is confirmed`() {
        var machine = machine(batches: [2, 1, 2])
        #expect(writeAll(&machine) == 5)
        let start = ContinuousClock.now
        _ = machine.confirmed(tag: 1, isMultiple: false, isRefusal: true, now: start)
        _ = machine.confirmed(tag: 3, isMultiple: false, isRefusal: false, now: start + .seconds(1))
        _ = machine.confirmed(tag: 2, isMultiple: false, isRefusal: true, now: start + .seconds(2))
        #expect(machine.keyRefused(for: .seconds(2), now: start + .seconds(2)) == "q0")
        #expect(machine.keyRefused(for: .seconds(3), now: start + .seconds(2)) == nil)
        _ = machine.confirmed(tag: 4, isMultiple: false, isRefusal: true, now: start + .seconds(2))
        _ = machine.confirmed(tag: 5, isMultiple: false, isRefusal: false)
        #expect(machine.refusedSince.keys.sorted() == ["q0"])
        #expect(machine.disconnected(lost).isEmpty)
        #expect(machine.refusedSince.isEmpty)
    }

    @Test func `Refusals are borne longer each time and forgotten after a minute`() {
        var patience = GrowingTime()
        var now = ContinuousClock.now
        var borne: [Duration] = []
        for _ in 0..<7 {
            borne.append(patience.current(now))
            patience.used(now)
            now += .seconds(1)
        }
        #expect(borne == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(patience.current(now + .seconds(61)) == .seconds(1))
    }

    @Test func `An ack does not undo a return`() {
        var machine = machine(batches: [3])
        #expect(writeAll(&machine) == 3)
        machine.returned(messages(1..<2, to: "q0")[0], reason: "NO_ROUTE")
        let done = machine.confirmed(tag: 3, isMultiple: true, isRefusal: false)
        #expect(done.first.map { failures($0.results).map(\.code) } == [.returned])
        if case .success? = done.first?.results[1] { Issue.record("the second message was returned") }
    }

    @Test func `Two returns of one message ID are two messages`() {
        var machine = Machine(limit: 8)
        let twice = messages(0..<1, to: "q") + messages(0..<1, to: "q")
        #expect(machine.submit(twice, waiter: 0, deadline: soon) == nil)
        #expect(writeAll(&machine) == 2)
        machine.returned(twice[0], reason: "NO_ROUTE")
        machine.returned(twice[0], reason: "NO_ROUTE")
        let done = machine.confirmed(tag: 2, isMultiple: true, isRefusal: false)
        #expect(done.first.map { failures($0.results).count } == 2)
    }

    @Test func `What does not fit waits its turn and then more is refused`() {
        var machine = machine(limit: 4, batches: [6])
        #expect(writeAll(&machine) == 4)
        #expect(machine.submit(messages(0..<2, to: "q1"), waiter: 1, deadline: soon) == nil)
        #expect(machine.waiting == 4)
        let refused = machine.submit(messages(0..<1, to: "x"), waiter: 9, deadline: soon)
        #expect(refused.map { failures($0.results).map(\.code) } == [.full])
        #expect(machine.confirmed(tag: 2, isMultiple: true, isRefusal: false).isEmpty)
        #expect(writeAll(&machine) == 2)
        #expect(machine.confirmed(tag: 6, isMultiple: true, isRefusal: false).map(\.waiter) == [0])
        #expect(writeAll(&machine) == 2)
    }

    @Test func `Disconnecting fails what is open and begins again`() {
        var machine = machine(batches: [2, 2])
        for _ in 0..<3 { #expect(machine.nextToWrite() != nil) }
        #expect(machine.confirmed(tag: 1, isMultiple: false, isRefusal: false).isEmpty)
        let failed = machine.disconnected(lost)
        #expect(failed.map { failures($0.results).count } == [1, 2])
        #expect(machine.isIdle)
        #expect(machine.submit(messages(0..<1, to: "q"), waiter: 7, deadline: soon) == nil)
        #expect(writeAll(&machine) == 1)
        #expect(machine.confirmed(tag: 1, isMultiple: false, isRefusal: false).map(\.waiter) == [7])
    }

    @Test func `Expiry fails what is not confirmed and keeps the tags in order`() {
        var machine = Machine(limit: 8)
        let now = ContinuousClock.now
        #expect(machine.submit(messages(0..<2, to: "a"), waiter: 0, deadline: now + .seconds(1)) == nil)
        #expect(writeAll(&machine) == 2)
        #expect(machine.confirmed(tag: 1, isMultiple: false, isRefusal: false).isEmpty)
        #expect(machine.nextDeadline() == now + .seconds(1))
        #expect(machine.expire(now: now, AMQPError(.timeout, "late")).isEmpty)
        let late = machine.expire(now: now + .seconds(2), AMQPError(.timeout, "late"))
        #expect(late.map { failures($0.results).map(\.code) } == [[.timeout]])
        #expect(machine.submit(messages(0..<1, to: "b"), waiter: 1, deadline: now + .seconds(9)) == nil)
        #expect(writeAll(&machine) == 1)
        #expect(machine.confirmed(tag: 3, isMultiple: true, isRefusal: false).map(\.waiter) == [1])
        #expect(machine.isIdle)
    }

    @Test func `Expiry drops what was not written`() {
        var machine = machine(limit: 2, batches: [5])
        #expect(writeAll(&machine) == 2)
        #expect(machine.expire(now: soon + .seconds(1), lost).count == 1)
        #expect(machine.waiting == 0)
        #expect(machine.confirmed(tag: 2, isMultiple: true, isRefusal: false).isEmpty)
        #expect(machine.isIdle)
    }

    @Test func `An address is unroutable until it takes a message`() {
        var machine = machine(batches: [2, 1])
        #expect(writeAll(&machine) == 3)
        machine.returned(messages(0..<1, to: "q0")[0], reason: "NO_ROUTE")
        #expect(machine.unroutable.keys.map(\.routingKey) == ["q0"])
        // The confirm of the returned message, and one of another address, say nothing.
        _ = machine.confirmed(tag: 1, isMultiple: false, isRefusal: false)
        _ = machine.confirmed(tag: 3, isMultiple: false, isRefusal: false)
        #expect(machine.unroutable.keys.map(\.routingKey) == ["q0"])
        _ = machine.confirmed(tag: 2, isMultiple: false, isRefusal: false)
        #expect(machine.unroutable.isEmpty)
    }

    /// Nobody may publish to it again.
    @Test func `A return counts for a minute`() {
        var machine = machine(batches: [1, 1])
        #expect(writeAll(&machine) == 2)
        let start = ContinuousClock.now
        machine.returned(messages(0..<1, to: "q0")[0], reason: "NO_ROUTE", now: start)
        machine.returned(messages(0..<1, to: "q1")[0], reason: "NO_ROUTE", now: start + .seconds(10))
        #expect(machine.nextForgetting == start + .seconds(60))
        machine.forgetReturns(now: start + .seconds(59))
        #expect(machine.unroutable.count == 2)
        machine.forgetReturns(now: start + .seconds(60))
        #expect(machine.unroutable.keys.map(\.routingKey) == ["q1"])
        machine.forgetReturns(now: start + .seconds(70))
        #expect(machine.unroutable.isEmpty && machine.nextForgetting == nil)
    }

    @Test func `A declaration is repeated at growing intervals`() {
        let start = ContinuousClock.now
        var backoff = GrowingTime()
        var times: [Int] = []
        for second in 0..<200 where backoff.isDue(start + .seconds(second)) { times.append(second) }
        #expect(times == [0, 1, 3, 7, 15, 31, 61, 91, 121, 151, 181])
        // Long after the last one the intervals begin anew.
        let later = [1000, 1001, 1002].filter { backoff.isDue(start + .seconds($0)) }
        #expect(later == [1000, 1001])
    }

    @Test(arguments: [
        ("", "retry", "the queue retry does not exist"),
        ("direct", "key", "the queue one is missing or not bound to the exchange direct with the key key"),
        ("fan", "any", "the queue two is missing or not bound to the exchange fan"),
        ("direct", "other", "no queue is bound to the exchange direct with the key other"),
    ])
    func `The reason of a return names the binding`(_ exchange: String, _ key: String, _ reason: String) {
        let topology = AMQPTopology(
            exchanges: [.init("direct", .direct), .init("fan", .fanout)], queues: [.init("one"), .init("two")],
            bindings: [.init(queue: "one", exchange: "direct", key: "key"), .init(queue: "two", exchange: "fan")])
        #expect(topology.reasonForReturn(exchange: exchange, routingKey: key) == reason)
    }

    @Test func `Confirms of unknown tags are ignored`() {
        var machine = machine(batches: [1])
        #expect(machine.confirmed(tag: 1, isMultiple: false, isRefusal: false).isEmpty)
        #expect(writeAll(&machine) == 1)
        #expect(machine.confirmed(tag: 99, isMultiple: true, isRefusal: false).isEmpty)
        #expect(machine.confirmed(tag: 1, isMultiple: false, isRefusal: false).count == 1)
    }

    @Test func `Any order of confirms completes every batch once`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var machine = Machine(limit: 16)
            var (submitted, completed, sent): (Set<Int>, [Int], [UInt64]) = ([], [], [])
            var tag: UInt64 = 0
            for step in 0..<100 {
                if Bool.random(), machine.waiting < 16 {
                    let size = Int.random(in: 1...5, using: &generator)
                    #expect(machine.submit(messages(0..<size, to: "q"), waiter: step, deadline: soon) == nil)
                    submitted.insert(step)
                }
                while Bool.random(), machine.nextToWrite() != nil {
                    tag += 1
                    sent.append(tag)
                }
                guard let one = sent.randomElement() else { continue }
                let isMultiple = Bool.random()
                sent.removeAll { $0 == one || isMultiple && $0 < one }
                completed += machine.confirmed(tag: one, isMultiple: isMultiple, isRefusal: false).map(\.waiter)
            }
            completed += machine.disconnected(lost).map(\.waiter)
            #expect(completed.count == submitted.count)
            #expect(Set(completed) == submitted)
        }
    }
}
