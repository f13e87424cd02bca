import Testing

@testable import SecurePushCLI

/// What one poll reads, from a list of the sender's notifications with these numbers, newest first.
@Suite struct TailPollTests {
    private static func id(_ number: Int) -> String { "id-\(1_000_000 + number)" }

    private func poll(since newest: Int?, of count: Int) async throws -> (poll: TailPoll, pages: Int) {
        var pages = 0
        let poll = try await TailPoll(since: newest.map(Self.id)) { before in
            pages += 1
            let end = before.flatMap { Int($0.dropFirst(3)) }.map { $0 - 1_000_000 } ?? count + 1
            let numbers = (max(1, end - 200)..<max(1, end)).reversed()
            let rows = numbers.map {
                ListedNotification(id: Self.id($0), recipient: "alice", status: "dispatched", createdAt: "t")
            }
            return (rows, numbers.last.flatMap { $0 > 1 ? Self.id($0) : nil })
        }
        return (poll, pages)
    }

    @Test(
        arguments: [
            // The first poll reads one page; later ones read until a notification is known.
            (nil, 5000, 1, 200, nil), (4900, 5000, 1, 200, nil), (4100, 5000, 5, 1000, nil),
            // What is not shown is counted, and so is the end of the count.
            (1500, 5000, 18, 2000, "Missed 1,500 notifications"),
            (0, 100_000, 100, 2000, "Missed at least 18,000 notifications"),
        ] as [(Int?, Int, Int, Int, String?)])
    func `As many pages are read as it takes, and what is not shown is counted`(
        newest: Int?, count: Int, pages: Int, shown: Int, loss: String?
    ) async throws {
        let (poll, asked) = try await poll(since: newest, of: count)
        #expect(asked == pages && poll.notifications.count == shown)
        #expect(poll.notifications.first?.id == Self.id(count))
        #expect(poll.loss?.prefix { $0 != ":" } == loss.map { $0[...] })
        if loss != nil { #expect(poll.loss?.contains("--before \(Self.id(count - shown + 1))") == true) }
    }

    @Test func `A server that gives the same page again ends the poll`() async throws {
        let poll = try await TailPoll(since: "a") { _ in ([], "b") }
        #expect(poll.notifications.isEmpty && poll.loss == nil)
    }
}
