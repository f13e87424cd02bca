import APITestSupport
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import TestSupport
import Testing

@testable import Ingest

@Suite("The bytes of all requests in flight")
struct RequestBudgetTests {
    private static let small = #"{"Recipient":"alice","Payload":1}"#
    /// It gives 300 KiB to the store.
    private static let large =
        #"{"Recipients":["a","b","c"],"Payload":"\#(String(repeating: "x", count: 100 * 1024))"}"#

    @Test func `Large requests leave room for small ones`() throws {
        let budget = RequestBudget(maxBytes: 400_000, reservedForSmall: 100_000)
        let first = budget.reservation()
        try first.add(200_000)
        let second = budget.reservation()
        try second.add(50_000)
        // Past 64 KiB it is no small one any more.
        #expect(throws: Problem.self) { try second.add(60_000) }
        #expect(budget.usedBytes == 250_000)
        let third = budget.reservation()
        #expect(throws: Problem.self) { try third.add(100_000) }
        for _ in 0..<2 { try third.add(30_000) }
        first.release()
        first.release()
        #expect(budget.usedBytes == 110_000)
        try second.add(60_000)
        #expect(throws: Problem.self) { try second.add(.max) }
        second.release()
        third.release()
        #expect(budget.usedBytes == 0)
    }

    @Test func `The batches of a sender share a quarter and nothing of the part for small requests`() throws {
        let budget = RequestBudget(maxBytes: 400_000, reservedForSmall: 100_000)
        let first = budget.reservation(ofBatchBy: "a")
        let second = budget.reservation(ofBatchBy: "a")
        try first.add(60_000)
        #expect(throws: Problem.self) { try second.add(40_001) }
        try second.add(40_000)
        #expect(throws: Problem.self) { try first.add(1) }
        let others = ["b", "c"].map { budget.reservation(ofBatchBy: $0) }
        for other in others { try other.add(100_000) }
        // The rest is for small requests, and a line is none.
        #expect(throws: Problem.self) { try budget.reservation(ofBatchBy: "d").add(1) }
        let small = budget.reservation()
        try small.add(60_000)
        small.release()
        second.release(30_000)
        try first.add(30_000)
        first.release()
        second.release()
        for other in others { other.release(200_000) }
        #expect(budget.usedBytes == 0)
    }

    @Test func `The bodies of a sender share a quarter while they arrive`() throws {
        let budget = RequestBudget(maxBytes: 400_000, reservedForSmall: 100_000)
        let reservations = (0..<3).map { _ in budget.reservation(arrivingFrom: "a") }
        try reservations[0].add(70_000)
        try reservations[1].add(30_000)
        #expect(throws: Problem.self) { try reservations[2].add(1) }
        // Neither its batches nor others are kept out.
        let others = [budget.reservation(ofBatchBy: "a"), budget.reservation(arrivingFrom: "b")]
        for other in others { try other.add(100_000) }
        // A small body may use the part for small ones, and a body that is there its sender's part no more.
        reservations[0].arrived()
        try reservations[2].add(60_000)
        #expect(throws: Problem.self) { try reservations[2].add(10_001) }
        #expect(budget.usedBytes == 360_000)
        others[0].release()
        try reservations[0].add(20_000)
        for reservation in reservations + others { reservation.release() }
        let all = budget.reservation(arrivingFrom: "a")
        try all.add(100_000)
        all.release()
        #expect(budget.usedBytes == 0)
    }

    @Test func `What is there already counts although it does not fit`() throws {
        let budget = RequestBudget(maxBytes: 400_000, reservedForSmall: 0)
        let reservation = budget.reservation(ofBatchBy: "a")
        reservation.hold(500_000)
        #expect(throws: Problem.self) { try reservation.add(1) }
        #expect(throws: Problem.self) { try budget.reservation().add(1) }
        reservation.release(450_000)
        try reservation.add(50_000)
        reservation.release()
        #expect(budget.usedBytes == 0)
    }

    @Test func `A batch waits for its part`() async throws {
        let budget = RequestBudget(maxBytes: 400_000, reservedForSmall: 0)
        let (first, second) = (budget.reservation(ofBatchBy: "a"), budget.reservation(ofBatchBy: "a"))
        #expect(await first.add(100_000, within: .seconds(30)))
        #expect(await !second.add(1, within: .milliseconds(50)))
        let waiting = Task { await second.add(100_000, within: .seconds(30)) }
        let cancelled = Task { await budget.reservation(ofBatchBy: "a").add(100_000, within: .seconds(600)) }
        cancelled.cancel()
        #expect(await !cancelled.value)
        first.release()
        #expect(await waiting.value)
    }

    @Test func `A share that is forgotten gives its bytes back`() throws {
        let budget = RequestBudget()
        try budget.reservation().add(1000)
        #expect(budget.usedBytes == 0)
    }

    @Test func `What does not fit is 503`() async throws {
        let store = memoryStore()
        let writer = FakeWriter(store, isHolding: true)
        let budget = RequestBudget(maxBytes: 800 * 1024, reservedForSmall: 100 * 1024)
        try await withIngest(store: store, writer: writer, budget: budget) { bench in
            async let first = bench.post(Self.large)
            try await expectEventually { writer.waiting == 1 }
            let refused = try await bench.post(Self.large)
            try refused.expectProblem(503)
            #expect(refused.headers[.retryAfter].flatMap { Int($0) } ?? 0 >= 1)
            let batch = try await bench.batch(Self.large)
            #expect(try batch.results().map { $0["status"] as? Int } == [503])
            async let second = bench.post(Self.small)
            try await expectEventually { writer.waiting == 2 }
            writer.release()
            #expect(try await [first.status, second.status] == [.created, .created])
            #expect(budget.usedBytes == 0)
            #expect(try await bench.post(Self.large).status == .created)
            #expect(try await bench.count == 7)
        }
    }

    /// The attack: bodies of which the last bytes do not come. Others are served meanwhile.
    @Test func `Bodies that do not end keep no other sender out`() async throws {
        let budget = RequestBudget(maxBytes: 800_000, reservedForSmall: 0)
        try await withIngest(budget: budget, server: .live) { bench in
            let part = String(repeating: " ", count: 120_000)
            let head = """
                POST /api/notifications HTTP/1.1\r
                Host: localhost\r
                Authorization: \(bench.credentials.sender)\r
                Content-Type: application/json\r
                Content-Length: 120080\r
                \r

                """
            try await RawConnection.with(port: bench.client.port) { first in
                try await first.write(head + part)
                try await expectEventually { budget.usedBytes == part.utf8.count }
                try await RawConnection.with(port: bench.client.port) { second in
                    try await second.write(head + part)
                    let answer = try await second.read(until: "\r\n\r\n")
                    #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: "))
                }
                let other = budget.reservation(arrivingFrom: "other")
                try other.add(200_000)
                try await first.write(String(repeating: " ", count: 80 - Self.small.utf8.count) + Self.small)
                #expect(try await first.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 201 "))
                other.release()
            }
            try await expectEventually { budget.usedBytes == 0 }
        }
    }

    @Test func `Every end of a request gives its bytes back`() async throws {
        let budget = RequestBudget()
        try await withIngest(budget: budget) { bench in
            _ = try await bench.post("{")
            _ = try await bench.post(#"{"Recipient":""}"#)
            _ = try await bench.post(Self.large)
            for _ in 0..<2 { _ = try await bench.post(Self.large, key: "k") }
            _ = try await bench.post(Self.small, key: "k")
            _ = try await bench.batch([Self.large, "{", Self.small])
            _ = try await bench.batch([Self.large, Self.small], key: "b")
            try await expectEventually { budget.usedBytes == 0 }
        }
    }
}
