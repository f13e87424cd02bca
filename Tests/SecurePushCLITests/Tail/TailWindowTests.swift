import Testing

@testable import SecurePushCLI

@Suite struct TailWindowTests {
    private func list(_ items: [(Int, String)]) -> [ListedNotification] {
        items.map { number, status in
            ListedNotification(id: "id-\(100 + number)", recipient: "alice", status: status, createdAt: "t")
        }
    }

    /// Looks at a list, and the news of each: `2q` is number 2, which is queued.
    struct Looks: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var capacity = 100
        var showing = 0
        var looks: [(list: String, news: String)]
    }

    @Test(arguments: [
        Looks(
            testDescription: "New ones and changes are told, the oldest first, and nothing twice",
            looks: [("2q 1r", ""), ("3q 2d 1r", "2d 3q"), ("3q 2d 1r", "")]),
        Looks(
            testDescription: "The newest of the first look are told when asked for", showing: 2,
            looks: [("3q 2r 1r", "2r 3q"), ("3r 2r", "3r")]),
        Looks(
            testDescription: "What is older than the first look is not new, if number 5 was deleted",
            looks: [("5q 4q", ""), ("4q 3r", "")]),
        Looks(testDescription: "In an empty list the first one is new", looks: [("", ""), ("1a", "1a")]),
        Looks(
            testDescription: "Only the newest are remembered, and what was forgotten is not told again", capacity: 2,
            looks: [("2q 1q", ""), ("4q 3q", "3q 4q"), ("4q 3q 2r 1r", "")]),
    ])
    func `What is new is told once`(looks: Looks) {
        let statuses = ["q": "queued", "r": "read", "d": "dispatched", "a": "accepted"]
        var window = TailWindow(size: 100, capacity: looks.capacity)
        for look in looks.looks {
            let rows = look.list.split(separator: " ").map { row in
                (Int(row.dropLast()) ?? 0, statuses[String(row.suffix(1))] ?? "")
            }
            let news = window.take(list(rows), showing: looks.showing).notifications
            let told = news.map { "\((Int($0.id.dropFirst(3)) ?? 0) - 100)\($0.status.prefix(1))" }
            #expect(told.joined(separator: " ") == look.news)
        }
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
