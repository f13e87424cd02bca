import Domain
import Foundations
import Testing

@testable import Storage

struct KeyedAppendRoundsTests {
    private func call(_ key: String, rows: Int = 1, now: Timestamp = noon, expiresAt: Timestamp? = nil) -> KeyedAppend {
        let sent = (0..<rows).map { _ in SealedNotification.sample() }
        let request = IdempotentRequest.sample(key, of: sent, expiresAt: expiresAt ?? noon + .seconds(86400))
        return KeyedAppend(notifications: sent, request: request, now: now)
    }

    @Test func `A round is in the order of the keys`() {
        let calls = ["b", "a", "c", "B"].map { call($0) }
        var rounds = KeyedAppendRounds(calls, limit: 10)
        #expect(rounds.next().map(\.request.key.value) == ["B", "a", "b", "c"])
    }

    @Test func `A repeated key is answered by the first`() throws {
        let calls = [call("a"), call("b"), call("a")]
        var rounds = KeyedAppendRounds(calls, limit: 10)
        let round = rounds.next()
        #expect(round.map(\.request) == [calls[0].request, calls[1].request])
        rounds.settle(round, .success([:]))
        #expect(rounds.next().isEmpty)
        #expect(try rounds.results().map { try $0.get() } == [nil, nil, calls[0].request])
    }

    @Test func `All of a key that is held are told by whom`() throws {
        let (calls, earlier) = ([call("a"), call("a")], call("a").request)
        var rounds = KeyedAppendRounds(calls, limit: 10)
        rounds.settle(rounds.next(), .success([earlier.key: earlier]))
        #expect(try rounds.results().map { try $0.get() } == [earlier, earlier])
    }

    @Test func `A key that expires before the next call is free`() throws {
        let calls = [call("a", expiresAt: noon + .seconds(1)), call("a", now: noon + .seconds(1))]
        var rounds = KeyedAppendRounds(calls, limit: 10)
        rounds.settle(rounds.next(), .success([:]))
        let second = rounds.next()
        #expect(second.map(\.request) == [calls[1].request])
        rounds.settle(second, .success([:]))
        #expect(try rounds.results().map { try $0.get() } == [nil, nil])
    }

    @Test func `A round holds at most the limit of rows or one call`() {
        let calls = [call("a", rows: 6), call("b", rows: 6), call("c", rows: 4), call("d", rows: 30)]
        var rounds = KeyedAppendRounds(calls, limit: 10)
        for expected in [["a", "c"], ["b"], ["d"], []] {
            let round = rounds.next()
            #expect(round.map(\.request.key.value) == expected)
            rounds.settle(round, .success([:]))
        }
    }

    @Test func `A round that is refused is split`() throws {
        let keys = ["a", "b", "c", "d", "e"]
        let calls = keys.map { call($0) }
        var rounds = KeyedAppendRounds(calls, limit: 10)
        var tried: [[String]] = []
        while case let round = rounds.next(), !round.isEmpty {
            tried.append(round.map(\.request.key.value))
            let isRefused = round.contains { $0.request.key.value == "b" }
            rounds.settle(round, isRefused ? .failure(StorageError(.failed, "refused")) : .success([:]))
        }
        #expect(tried == [keys, ["a", "b"], ["a"], ["b"], ["c", "d", "e"]])
        let isStored = rounds.results().map { result in
            if case .success(nil) = result { true } else { false }
        }
        #expect(isStored == [true, false, true, true, true])
    }

    @Test func `A statement that fails fails its own calls only`() throws {
        let calls = [call("a"), call("b"), call("a")]
        var rounds = KeyedAppendRounds(calls, limit: 10)
        rounds.settle(rounds.next(), .failure(StorageError(.timeout, "late")))
        rounds.settle(rounds.next(), .success([:]))
        #expect(rounds.next().isEmpty)
        let results = rounds.results()
        #expect(throws: StorageError.self) { try results[0].get() }
        #expect(throws: StorageError.self) { try results[1].get() }
        let last = try results[2].get()
        #expect(last == nil)
    }
}
