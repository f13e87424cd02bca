import Foundations
import Testing

struct MailboxTests {
    @Test func `A taker gets all that has come`() async {
        let box = Mailbox<Int>()
        box.put([1, 2])
        box.put([3])
        #expect(await box.take() == [1, 2, 3])
    }

    @Test func `A taker gets no more than the limit`() async {
        let box = Mailbox<Int>()
        box.put(1...5)
        #expect(await box.take(limit: 2) == [1, 2])
        #expect(await box.take(limit: 9) == [3, 4, 5])
    }

    @Test func `A taker waits for the first`() async {
        let box = Mailbox<Int>()
        async let taken = box.take()
        await Task.yield()
        box.put([7])
        #expect(await taken == [7])
    }

    @Test func `A mailbox ends once closed and empty`() async {
        let box = Mailbox<Int>()
        box.put([1])
        box.close()
        #expect(!box.put([2]))
        #expect(await box.take() == [1])
        #expect(await box.take() == nil)
    }

    @Test func `Closing ends a wait`() async {
        let box = Mailbox<Int>()
        async let taken = box.take()
        await Task.yield()
        box.close()
        #expect(await taken == nil)
    }

    @Test func `Cancellation ends a wait`() async {
        let box = Mailbox<Int>()
        let taking = Task { await box.take() }
        await Task.yield()
        taking.cancel()
        #expect(await taking.value == nil)
        // What has come can be taken all the same, once.
        box.put([1])
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return (await box.take(), await box.take())
        }
        let (first, second) = await late.value
        #expect(first == [1] && second == nil)
    }

    @Test func `Many put and nothing is lost`() async {
        let box = Mailbox<Int>()
        let sum = await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask { for number in 0..<1000 { box.put([worker * 1000 + number]) } }
            }
            var (count, sum) = (0, 0)
            while count < 8000, let taken = await box.take(limit: 100) {
                count += taken.count
                sum += taken.reduce(0, +)
            }
            return sum
        }
        #expect(sum == (0..<8000).reduce(0, +))
    }
}
