import Domain
import Foundations
import Logging
import StackKit
import Synchronization
import Testing

@testable import Hub

@Suite struct WriteQueueTests {
    /// A database that refuses some numbers, and is away for some of its calls.
    private final class Database: Sendable {
        private struct State: Sendable {
            var written: [Int] = []
            var calls: [[Int]] = []
            var away: Set<Int>
        }

        private let state: Mutex<State>
        private let refused: Set<Int>

        /// - Parameter away: the calls, from 1, at which it is away.
        init(refusing refused: Set<Int> = [], away: Set<Int> = []) {
            self.refused = refused
            state = Mutex(State(away: away))
        }

        var written: [Int] { state.withLock { $0.written } }
        var calls: [[Int]] { state.withLock { $0.calls } }

        func isAway(_ isAway: Bool) { state.withLock { $0.away = isAway ? Set(1...10_000) : [] } }

        @Sendable func write(_ numbers: [Int]) throws {
            try state.withLock { state in
                state.calls.append(numbers)
                if state.away.contains(state.calls.count) { throw StorageError(.unavailable, "away") }
                if !refused.isDisjoint(with: numbers) { throw StorageError(.failed, "refused") }
                state.written += numbers
            }
        }
    }

    private func queue(_ database: Database, capacity: Int = 100) -> WriteQueue<Int> {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return WriteQueue("Numbers", capacity: capacity, patience: .seconds(60), logger: logger) {
            try database.write($0)
        }
    }

    @Test func `One that the database refuses stops no other one`() async {
        let database = Database(refusing: [2])
        let queue = queue(database)
        queue.put([1, 2, 3])
        await queue.waitUntilWritten()
        #expect(database.written == [1, 3])
        #expect(database.calls == [[1, 2, 3], [1], [2], [3]])
    }

    @Test func `Elements wait for others, and a stop does not`() async throws {
        let database = Database()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let queue = WriteQueue<Int>("Numbers", gathering: .milliseconds(200), logger: logger) { try database.write($0) }
        queue.put([1])
        queue.put([2])
        await queue.waitUntilWritten()
        #expect(database.calls == [[1, 2]])
        // A full group is written at once.
        queue.put(Array(1...400))
        await queue.finish()
        #expect(database.calls.dropFirst() == [Array(1...200), Array(201...400)])
    }

    /// The group fails at the first call, and the database goes away in the middle of the writes one by one.
    @Test(arguments: 2...5) func `None is lost when the database goes away in the middle`(_ call: Int) async {
        let database = Database(refusing: [2], away: [call])
        let queue = queue(database)
        queue.put([1, 2, 3, 4])
        await queue.waitUntilWritten()
        #expect(database.written == [1, 3, 4])
    }

    @Test func `While the database is away they wait, in their order`() async throws {
        let database = Database()
        database.isAway(true)
        let queue = queue(database)
        queue.put([1, 2])
        try await expectToHold { database.calls.count >= 2 }
        queue.put([3])
        #expect(database.written.isEmpty)
        database.isAway(false)
        await queue.waitUntilWritten()
        #expect(database.written == [1, 2, 3])
    }

    @Test func `A stop waits for a database that comes back soon`() async throws {
        let database = Database()
        database.isAway(true)
        let queue = queue(database)
        queue.put([1])
        async let finished: Void = queue.finish()
        let calls = database.calls.count
        try await expectToHold { database.calls.count > calls + 1 }
        database.isAway(false)
        await finished
        #expect(database.written == [1])
    }

    @Test func `The oldest make room for others, and nobody waits for them`() async throws {
        let database = Database()
        database.isAway(true)
        let queue = queue(database, capacity: 3)
        for number in 1...5 { queue.put([number]) }
        try await expectToHold { !database.calls.isEmpty }
        database.isAway(false)
        await queue.waitUntilWritten()
        #expect(database.written.count <= 4 && database.written.last == 5)
        #expect(database.written == database.written.sorted())
    }
}
