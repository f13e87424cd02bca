import Testing

@testable import SecurePushCLI

@Suite struct TailWindowTests {
    private func list(_ items: [(Int, String)]) -> [ListedNotification] {
        items.map { number, status in
            ListedNotification(id: "id-\(100 + number)", recipient: "alice", status: status, createdAt: "t")
        }
    }

    private func told(_ news: TailWindow.News) -> [String] {
        news.notifications.map { "\($0.id.suffix(2)) \($0.status)" }
    }

    @Test func `New ones and changes are told, the oldest first, and nothing twice`() {
        var window = TailWindow(size: 100, capacity: 100)
        let atFirst = window.take(list([(2, "queued"), (1, "read")]))
        #expect(atFirst.notifications.isEmpty)
        let changed = told(window.take(list([(3, "queued"), (2, "dispatched"), (1, "read")])))
        #expect(changed == ["02 dispatched", "03 queued"])
        let again = window.take(list([(3, "queued"), (2, "dispatched"), (1, "read")]))
        #expect(again.notifications.isEmpty)
    }

    @Test func `The newest of the first look are told when asked for`() {
        var window = TailWindow(size: 100, capacity: 100)
        let first = window.take(list([(3, "queued"), (2, "read"), (1, "read")]), showing: 2)
        #expect(told(first) == ["02 read", "03 queued"])
        let later = told(window.take(list([(3, "read"), (2, "read")]), showing: 2))
        #expect(later == ["03 read"])
    }

    @Test func `What is older than the first look is not new`() {
        var window = TailWindow(size: 100, capacity: 100)
        _ = window.take(list([(5, "queued"), (4, "queued")]))
        // Number 5 was deleted, so that an older one comes into the window.
        let later = window.take(list([(4, "queued"), (3, "read")]))
        #expect(later.notifications.isEmpty)
    }

    @Test func `In an empty list the first one is new`() {
        var window = TailWindow(size: 100, capacity: 100)
        let atFirst = window.take([])
        #expect(atFirst.notifications.isEmpty)
        let later = told(window.take(list([(1, "accepted")])))
        #expect(later == ["01 accepted"])
    }

    @Test func `Only the newest are remembered, and what was forgotten is not told again`() {
        var window = TailWindow(size: 100, capacity: 2)
        _ = window.take(list([(2, "queued"), (1, "queued")]))
        let newer = told(window.take(list([(4, "queued"), (3, "queued")])))
        #expect(newer == ["03 queued", "04 queued"])
        let later = window.take(list([(4, "queued"), (3, "queued"), (2, "read"), (1, "read")]))
        #expect(later.notifications.isEmpty)
    }

    @Test func `Those that leave the window without a final status are counted once`() {
        var window = TailWindow(size: 2, capacity: 100)
        let first = window.take(list([(3, "queued"), (2, "accepted"), (1, "dispatched")]))
        #expect(first.unfinished == 0)
        let second = window.take(list([(5, "queued"), (4, "dispatched"), (3, "queued"), (2, "dispatched")]))
        #expect(second.unfinished == 1)
        let third = window.take(list([(6, "dispatched"), (5, "dispatched")]))
        #expect(third.unfinished == 0)
    }

    @Test func `What is newer than the newest is new`() {
        var window = TailWindow(size: 2, capacity: 100)
        #expect(window.newest.isEmpty)
        _ = window.take(list([(3, "queued"), (2, "read")]))
        #expect(window.newest == "id-103")
    }

    @Test func `An outage is told once, and its end with the polls that failed`() {
        var outage = TailOutage()
        let (answeredAtFirst, healsAtFirst) = (outage.hasAnswered, outage.heal())
        let (hasAnswered, begins, beginsAgain) = (outage.hasAnswered, outage.begin(), outage.begin())
        let (heals, healsAgain) = (outage.heal(), outage.heal())
        #expect(!answeredAtFirst && healsAtFirst == 0)
        #expect(hasAnswered && begins && !beginsAgain)
        #expect(heals == 2 && healsAgain == 0)
    }
}
