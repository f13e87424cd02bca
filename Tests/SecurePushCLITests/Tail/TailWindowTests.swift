import Testing

@testable import SecurePushCLI

@Suite struct TailWindowTests {
    private func list(_ items: [(Int, String)]) -> [ListedNotification] {
        items.map { number, status in
            ListedNotification(id: "id-\(100 + number)", recipient: "alice", status: status, createdAt: "t")
        }
    }

    private func told(_ notifications: [ListedNotification]) -> [String] {
        notifications.map { "\($0.id.suffix(2)) \($0.status)" }
    }

    @Test func `New ones and changes are told, the oldest first, and nothing twice`() {
        var window = TailWindow(capacity: 100)
        let atFirst = window.take(list([(2, "queued"), (1, "read")]))
        #expect(atFirst.isEmpty)
        let changed = told(window.take(list([(3, "queued"), (2, "dispatched"), (1, "read")])))
        #expect(changed == ["02 dispatched", "03 queued"])
        let again = window.take(list([(3, "queued"), (2, "dispatched"), (1, "read")]))
        #expect(again.isEmpty)
    }

    @Test func `The newest of the first look are told when asked for`() {
        var window = TailWindow(capacity: 100)
        let first = window.take(list([(3, "queued"), (2, "read"), (1, "read")]), showing: 2)
        #expect(told(first) == ["02 read", "03 queued"])
        let later = told(window.take(list([(3, "read"), (2, "read")]), showing: 2))
        #expect(later == ["03 read"])
    }

    @Test func `What is older than the first look is not new`() {
        var window = TailWindow(capacity: 100)
        _ = window.take(list([(5, "queued"), (4, "queued")]))
        // Number 5 was deleted, so that an older one comes into the window.
        let later = window.take(list([(4, "queued"), (3, "read")]))
        #expect(later.isEmpty)
    }

    @Test func `In an empty list the first one is new`() {
        var window = TailWindow(capacity: 100)
        let atFirst = window.take([])
        #expect(atFirst.isEmpty)
        let later = told(window.take(list([(1, "accepted")])))
        #expect(later == ["01 accepted"])
    }

    @Test func `Only the newest are remembered, and what was forgotten is not told again`() {
        var window = TailWindow(capacity: 2)
        _ = window.take(list([(2, "queued"), (1, "queued")]))
        let newer = told(window.take(list([(4, "queued"), (3, "queued")])))
        #expect(newer == ["03 queued", "04 queued"])
        let later = window.take(list([(4, "queued"), (3, "queued"), (2, "read"), (1, "read")]))
        #expect(later.isEmpty)
    }

    @Test func `An outage is told once, and its end`() {
        var outage = TailOutage()
        let (answeredAtFirst, healsAtFirst) = (outage.hasAnswered, outage.heal())
        let (hasAnswered, begins, beginsAgain) = (outage.hasAnswered, outage.begin(), outage.begin())
        let (heals, healsAgain) = (outage.heal(), outage.heal())
        #expect(!answeredAtFirst && !healsAtFirst)
        #expect(hasAnswered && begins && !beginsAgain)
        #expect(heals && !healsAgain)
    }
}
