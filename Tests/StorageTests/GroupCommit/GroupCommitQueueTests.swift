import Testing

@testable import Storage

struct GroupCommitQueueTests {
    private typealias Queue = GroupCommitQueue<Int, String>

    private func queue(limit: Int = 10, isStarted: Bool = true) -> Queue {
        var queue = Queue(limit: limit)
        if isStarted { _ = queue.start() }
        return queue
    }

    /// The waiters of the next group; `nil` when there is none to commit.
    private func group(_ queue: inout Queue) -> [String]? {
        guard case .commit(let group) = queue.next() else { return nil }
        #expect(group.elements.count == group.requests.reduce(0) { $0 + $1.count })
        return group.requests.map(\.waiter)
    }

    private func submit(_ queue: inout Queue, _ waiter: String, _ count: Int = 1) -> Queue.SubmitAction {
        queue.submit(queue.makeTicket(), Array(repeating: 0, count: count), waiter, isCancelled: false)
    }

    @Test func `What waits is one group, in its order`() {
        var queue = queue()
        let actions = ["a", "b", "c"].map { submit(&queue, $0) }
        #expect(actions == [.begin, .wait, .wait])
        #expect(group(&queue) == ["a", "b", "c"])
        #expect(group(&queue) == nil)
    }

    @Test(arguments: [
        (10, [4, 4, 4], [2, 1]), (8, [4, 4, 4], [2, 1]), (3, [1, 5, 1, 1], [1, 1, 2]), (1, [1, 1], [1, 1]),
        (4, [9], [1]), (4, [9, 9], [1, 1]), (5, [2, 3, 1], [2, 1]),
    ])
    func `The limit counts elements, and a request is never split`(_ limit: Int, _ requests: [Int], _ groups: [Int]) {
        var queue = queue(limit: limit)
        for count in requests { _ = submit(&queue, "x", count) }
        var found: [Int] = []
        while let group = group(&queue) { found.append(group.count) }
        #expect(found == groups)
    }

    @Test func `What waits is bounded in elements and in bytes, and a lone request is not`() {
        func submit(_ queue: inout Queue, _ waiter: String, _ count: Int, _ bytes: Int) -> Queue.SubmitAction {
            let elements = Array(repeating: 0, count: count)
            return queue.submit(queue.makeTicket(), elements, waiter, isCancelled: false, bytes: bytes)
        }
        var queue = Queue(limit: 1, capacity: .init(maxCount: 10, maxBytes: 100))
        _ = queue.start()
        #expect(submit(&queue, "a", 11, 500) == .begin)
        #expect(submit(&queue, "b", 1, 1) == .overload)
        #expect(group(&queue) == ["a"])
        #expect(submit(&queue, "c", 1, 60) == .wait)
        #expect(submit(&queue, "d", 1, 41) == .overload)
        #expect(submit(&queue, "e", 1, 40) == .wait)
        #expect(submit(&queue, "f", 1, .max) == .overload)
        #expect(submit(&queue, "g", 9, 0) == .overload)
        #expect(submit(&queue, "h", 8, 0) == .wait)
        #expect(group(&queue) == ["c"])
        #expect(submit(&queue, "i", 1, 60) == .wait)
        #expect([group(&queue), group(&queue), group(&queue)] == [["e"], ["h"], ["i"]])
    }

    @Test func `While nothing is in flight, the first to submit begins`() {
        var queue = queue()
        #expect(submit(&queue, "a") == .begin)
        #expect(submit(&queue, "b") == .wait)
        #expect(group(&queue) == ["a", "b"])
        #expect(submit(&queue, "c") == .wait)
    }

    @Test func `Requests before the start wait for it`() {
        var queue = queue(isStarted: false)
        #expect(submit(&queue, "a") == .wait)
        #expect(!queue.isRunning)
        let isBegun = queue.start()
        #expect(isBegun)
        #expect(group(&queue) == ["a"])
    }

    @Test func `Stopping finishes what waits and refuses what comes`() {
        var queue = queue(limit: 1)
        _ = submit(&queue, "a")
        _ = submit(&queue, "b")
        let isLast = queue.stop()
        #expect(!isLast)
        #expect(submit(&queue, "c") == .refuse)
        #expect(group(&queue) == ["a"])
        #expect(group(&queue) == ["b"])
        #expect(!queue.isStopped)
        #expect(group(&queue) == nil)
        #expect(queue.isStopped)
        #expect(submit(&queue, "d") == .refuse)
    }

    @Test func `Who stops an idle queue takes the last step, once`() {
        var queue = queue()
        #expect(group(&queue) == nil)
        let areLast = [queue.stop(), queue.stop()]
        #expect(areLast == [true, false])
        #expect(!queue.isStopped)
        #expect(group(&queue) == nil)
        #expect(queue.isStopped)
    }

    @Test func `The elements of a group are those of its requests, also after one was withdrawn`() {
        var queue = queue(limit: 3, isStarted: false)
        let tickets = [queue.makeTicket(), queue.makeTicket()]
        _ = queue.submit(nil, [1, 2], "a", isCancelled: false)
        _ = queue.submit(tickets[0], [3, 4], "b", isCancelled: false)
        _ = queue.submit(tickets[1], CollectionOfOne(5), "c", isCancelled: false)
        _ = queue.submit(nil, [6], "d", isCancelled: false)
        #expect(queue.withdraw(tickets[0]) == "b")
        _ = queue.start()
        var groups: [[Int]] = []
        while case .commit(let group) = queue.next() { groups.append(group.elements) }
        #expect(groups == [[1, 2, 5], [6]])
        _ = queue.submit(nil, [7], "e", isCancelled: false)
        #expect(queue.removeAll() == ["e"])
        #expect(group(&queue) == nil)
    }

    @Test func `A cancelled request is withdrawn before the start only`() {
        var queue = queue(isStarted: false)
        let (first, second) = (queue.makeTicket(), queue.makeTicket())
        #expect(queue.submit(first, [1], "a", isCancelled: false) == .wait)
        #expect(queue.submit(second, [1], "b", isCancelled: true) == .cancel)
        #expect(queue.withdraw(first) == "a")
        #expect(queue.withdraw(first) == nil)
        let third = queue.makeTicket()
        let hasRequests = queue.start()
        #expect(!hasRequests)
        #expect(queue.submit(third, [1], "c", isCancelled: true) == .begin)
        #expect(queue.withdraw(third) == nil)
        #expect(group(&queue) == ["c"])
    }
}
