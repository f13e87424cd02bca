import ChaosChecker
import Testing

/// What the checker holds against devices, secrets and processes.
@Suite struct CheckerDeviceTests {
    private func failures(_ spoil: (inout SmallHistory) -> Void) -> [String] {
        var history = SmallHistory()
        spoil(&history)
        return history.verdict.failures
    }

    @Test func `What is shown twice is named`() {
        #expect(
            failures { $0.reads.append(.show(.init(time: 60, device: "user0/apple", id: "id-0"))) }
                == ["shown twice on a device"])
    }

    @Test func `What a live device never shows is named`() {
        #expect(failures { $0.reads.removeLast() } == ["not shown on a live device"])
    }

    @Test func `A read by another user is named`() {
        #expect(
            failures { $0.reads.append(SmallHistory.fetch(0, by: "user1", on: "user1/apple")) }
                == ["fetched by a wrong device"])
    }

    @Test func `A read that is refused is fine`() {
        let probe = HistoryEvent.fetch(
            .init(time: 40, device: "user1/apple", user: "user1", id: "id-0", reason: .probe, status: 404))
        #expect(failures { $0.reads.append(probe) } == [])
    }

    @Test func `Another payload is named`() {
        let wrong = SmallHistory.fetch(0, by: "user0", on: "user0/apple", read: 1)
        #expect(failures { $0.reads.append(wrong) } == ["fetched with another payload"])
    }

    @Test func `A payload that cannot be read is another`() {
        let broken = HistoryEvent.fetch(
            .init(time: 40, device: "user0/apple", user: "user0", id: "id-0", reason: .push, status: 200))
        #expect(failures { $0.reads.append(broken) } == ["fetched with another payload"])
    }

    @Test func `A push to another user's device is named`() {
        let stray = HistoryEvent.hub(
            .init(
                time: 30, sequence: 1, platform: "apple", id: "id-0", accepted: true, status: 201,
                devices: ["user1/apple"]))
        #expect(failures { $0.hub[0] = stray } == ["pushed to a wrong device"])
    }

    @Test(arguments: ["hub records", "broker files", "service logs", "database files"])
    func `A payload where none may be is named`(_ place: String) {
        let found = failures { $0.after.insert(.leak(.init(place: place, found: 1, searchedBytes: 500_000)), at: 0) }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("payload in \(place) (") == true)
    }

    /// The files were not where the run looked for them.
    @Test func `A search through nothing is named`() {
        let nothing = HistoryEvent.leak(.init(place: "service logs", found: 0, searchedBytes: 0))
        #expect(failures { $0.after.insert(nothing, at: 0) } == ["payload in service logs (0 kB)"])
    }

    @Test func `A fault that is not undone is named`() {
        #expect(failures { $0.nemesis.removeLast() } == ["faults not undone"])
    }

    @Test func `A fault that was never done is named`() {
        #expect(failures { $0.nemesis = [] } == ["faults done as planned"])
    }

    @Test func `A fault that failed is named`() {
        #expect(
            failures {
                $0.nemesis[1] = .nemesis(
                    .init(time: 200, phase: .end, fault: SmallHistory.plan.faults[0].description, failure: "no start"))
            } == ["faults that failed"])
    }

    @Test func `A service that ends unasked is named`() {
        #expect(
            failures { $0.after.insert(.exit(.init(time: 5, service: "ingest-1", isAsked: false, code: 1)), at: 0) }
                == ["services that ended unasked"])
    }

    @Test(arguments: [(Int32?.some(1), Int64(100)), (nil, 100), (0, 10_001)])
    func `A drain that is not clean is named`(_ code: Int32?, _ took: Int64) {
        let exit = HistoryEvent.exit(
            .init(time: 5, service: "dispatcher-1", isAsked: true, code: code, took: took))
        #expect(failures { $0.after.insert(exit, at: 0) } == ["SIGTERM not obeyed with 0 within 10 s"])
    }

    @Test func `Missed hub records are named`() {
        #expect(failures { $0.hub.append(.gap(.init(after: 3, missing: 4))) } == ["hub records missed"])
    }

    @Test func `A run that was broken off fails`() {
        #expect(
            failures { $0.after[$0.after.count - 1] = .end(.init(time: 900, failure: "interrupted")) }
                == ["came to its end"])
    }

    @Test func `Healed queues are counted`() {
        var history = SmallHistory()
        history.nemesis[1] = .nemesis(
            .init(time: 200, phase: .end, fault: SmallHistory.plan.faults[0].description, healed: 2))
        #expect(history.verdict.row("queues healed (rabbitmq-server issue 10070)")?.value == "2")
        #expect(history.verdict.passes)
    }
}
