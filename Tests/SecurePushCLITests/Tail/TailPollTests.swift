import Testing

@testable import SecurePushCLI

/// What one poll reads, from a list of the sender's notifications with these numbers, newest first.
@Suite struct TailPollTests {
    private static func id(_ number: Int) -> String { "id-\(1_000_000 + number)" }

    private func poll(
        since newest: Int?, of count: Int, page size: Int = 200, asked: inout [String?]
    ) async throws -> TailPoll {
        var seen: [String?] = []
        defer { asked = seen }
        return try await TailPoll(since: newest.map(Self.id)) { before in
            seen.append(before)
            let end = before.flatMap { Int($0.dropFirst(3)) }.map { $0 - 1_000_000 } ?? count + 1
            let numbers = (max(1, end - size)..<max(1, end)).reversed()
            let rows = numbers.map {
                ListedNotification(id: Self.id($0), recipient: "alice", status: "dispatched", createdAt: "t")
            }
            return (rows, numbers.last.flatMap { $0 > 1 ? Self.id($0) : nil })
        }
    }

    @Test func `The first poll reads one page`() async throws {
        var asked: [String?] = []
        let poll = try await poll(since: nil, of: 5000, asked: &asked)
        #expect(asked == [nil] && poll.notifications.count == 200 && poll.loss == nil)
    }

    @Test func `A page with a known notification is the last one`() async throws {
        var asked: [String?] = []
        let poll = try await poll(since: 4900, of: 5000, asked: &asked)
        #expect(asked.count == 1 && poll.loss == nil)
    }

    @Test func `More than a page of new ones is read page by page, and none is missed`() async throws {
        var asked: [String?] = []
        let poll = try await poll(since: 4100, of: 5000, asked: &asked)
        #expect(asked.count == 5 && poll.loss == nil)
        #expect(Set(poll.notifications.map(\.id)).isSuperset(of: (4101...5000).map(Self.id)))
    }

    @Test func `What is not shown is counted`() async throws {
        var asked: [String?] = []
        let poll = try await poll(since: 1500, of: 5000, asked: &asked)
        #expect(poll.notifications.count == 2000 && poll.missed == 1500 && !poll.isCut)
        #expect(poll.loss?.hasPrefix("Missed 1,500 notifications") == true)
        #expect(poll.loss?.contains("--before \(Self.id(3001))") == true)
    }

    @Test func `The count ends, and says so`() async throws {
        var asked: [String?] = []
        let poll = try await poll(since: 0, of: 100_000, asked: &asked)
        #expect(asked.count == 100 && poll.isCut)
        #expect(poll.loss?.hasPrefix("Missed at least 18,000 notifications") == true)
    }

    @Test func `A server that gives the same page again ends the poll`() async throws {
        let poll = try await TailPoll(since: "a") { _ in ([], "b") }
        #expect(poll.notifications.isEmpty && poll.loss == nil)
    }
}
