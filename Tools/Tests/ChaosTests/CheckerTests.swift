import ChaosChecker
import Testing

/// The checker must fail what is wrong: each history is good but for one thing, and only that thing's bar may fall.
@Suite struct CheckerTests {
    private func verdict(_ spoil: (inout SmallHistory) -> Void) -> Verdict {
        var history = SmallHistory()
        spoil(&history)
        return history.verdict
    }

    @Test func `A good history passes`() {
        let verdict = SmallHistory().verdict
        #expect(verdict.passes, "\(verdict.text)")
        #expect(verdict.row("lost (notification and platform)")?.value == "0")
        #expect(verdict.row("drained after the last fault")?.value == "0.1 s")
        #expect(verdict.text.hasSuffix("seed 1: PASS"))
    }

    @Test func `An empty history proves nothing`() {
        let verdict = Checker.check([])
        #expect(!verdict.passes)
        #expect(verdict.failures.contains("came to its end"))
        #expect(verdict.failures.contains("searched for payloads"))
    }

    @Test func `What the hub never took is lost`() {
        let verdict = verdict { $0.hub.removeFirst() }
        #expect(verdict.failures == ["lost (notification and platform)"])
        #expect(verdict.row("lost (notification and platform)")?.value == "1")
    }

    @Test func `A refused send is no delivery`() {
        let verdict = verdict { $0.hub[0] = SmallHistory.hubSend(0, "apple", accepted: false) }
        #expect(verdict.failures == ["lost (notification and platform)"])
    }

    @Test(arguments: ["dead", "skipped"])
    func `What is visibly given up is not lost`(_ state: String) {
        let verdict = verdict {
            $0.hub.removeFirst()
            $0.records[0].deliveries[0] = SmallHistory.delivery("apple", state)
        }
        #expect(verdict.passes, "\(verdict.text)")
    }

    @Test func `What expired or was revoked is not lost`() {
        let verdict = verdict {
            $0.hub.removeFirst(2)
            $0.records[0].deliveries = []
            $0.records[0].isRevoked = true
        }
        #expect(verdict.passes, "\(verdict.text)")
    }

    @Test func `An accepted notification without a row is lost and unsettled`() {
        let verdict = verdict {
            $0.hub.removeFirst(2)
            $0.records.removeFirst()
        }
        #expect(verdict.row("lost (notification and platform)")?.value == "2")
        #expect(verdict.failures.contains("not settled at the end"))
        #expect(verdict.failures.contains("drained after the last fault"))
    }

    @Test func `What was never accepted is named`() {
        let verdict = verdict { $0.sends.removeLast() }
        #expect(verdict.failures.contains("never accepted"))
        #expect(verdict.failures.contains("accepted (201)"))
    }

    @Test func `A refused request is named`() {
        let verdict = verdict {
            $0.sends.append(.send(.init(time: 11, phase: .fail, number: 1, recipient: "user1", status: 422)))
        }
        #expect(verdict.failures == ["refused (4xx)"])
    }

    @Test func `Two IDs under one key are named`() {
        let verdict = verdict {
            $0.sends.append(
                .send(.init(time: 21, phase: .ok, number: 1, recipient: "user1", id: "id-0", status: 201)))
        }
        #expect(verdict.failures.contains("two IDs under one idempotency key"))
    }

    @Test func `A send of an unknown ID is a ghost`() {
        let verdict = verdict { $0.hub.append(SmallHistory.hubSend(7, "apple", accepted: false)) }
        #expect(verdict.failures == ["ghosts: sends of unknown IDs"])
    }

    @Test func `A send that names no ID is a ghost`() {
        let verdict = verdict {
            $0.hub.append(.hub(.init(time: 30, sequence: 9, platform: "apple", id: nil, accepted: true)))
        }
        #expect(verdict.failures == ["ghosts: sends of unknown IDs"])
    }

    @Test func `A stored ID whose answer was lost is no ghost`() {
        // Number 1 was never answered, and its row is there all the same.
        let verdict = verdict { $0.sends.removeLast() }
        #expect(verdict.row("ghosts: sends of unknown IDs")?.passes == true)
        #expect(verdict.row("stored but never answered")?.passes == true)
    }

    @Test func `A row that belongs to no request is named`() {
        let verdict = verdict {
            var record = $0.records[0]
            record.id = "id-7"
            $0.records.append(record)
        }
        #expect(verdict.failures == ["stored but never answered"])
    }

    @Test func `A second send without a reason is unexplained`() {
        let verdict = verdict { $0.hub.append(SmallHistory.hubSend(0, "apple")) }
        #expect(verdict.failures.contains("duplicate sends, unexplained"))
        #expect(verdict.row("duplicate sends, unexplained")?.value == "1")
    }

    @Test func `A reason explains as many sends as it says`() {
        let verdict = verdict {
            $0.hub += [SmallHistory.hubSend(0, "apple"), SmallHistory.hubSend(0, "apple")]
            $0.records[0].deliveries[0].unanswered = 1
        }
        #expect(verdict.row("duplicate sends, unexplained")?.value == "1")
        // One of the six sends.
        #expect(verdict.row("duplicate sends, explained")?.value.hasPrefix("1 ") == true)
    }

    @Test func `A reason on another platform explains nothing`() {
        let verdict = verdict {
            $0.hub.append(SmallHistory.hubSend(0, "apple"))
            $0.records[0].deliveries[1].unanswered = 1
        }
        #expect(verdict.row("duplicate sends, unexplained")?.value == "1")
    }

    @Test func `Too many explained duplicates fail their bar`() {
        let verdict = verdict {
            $0.hub.append(SmallHistory.hubSend(0, "apple"))
            $0.records[0].deliveries[0].unanswered = 1
        }
        #expect(verdict.failures == ["duplicate sends, explained"])
    }

    @Test func `A short runs allowance covers its kills`() {
        var history = SmallHistory()
        history.allowance = 1
        history.hub.append(SmallHistory.hubSend(0, "apple"))
        history.records[0].deliveries[0].unanswered = 1
        #expect(history.verdict.passes, "\(history.verdict.text)")
    }

    @Test(arguments: [("retrying", 1), ("dead", 1), ("sent", 2)])
    func `A settled state that changes is overwritten`(_ state: String, _ attempts: Int) {
        let verdict = verdict {
            var look = $0.records[0]
            look.isFinal = false
            $0.looks = [.record(look)]
            $0.records[0].deliveries[0] = SmallHistory.delivery("apple", state, attempts: attempts)
        }
        #expect(verdict.failures.contains("settled states overwritten"))
    }

    @Test func `A state that was not settled may change`() {
        let verdict = verdict {
            var look = $0.records[0]
            look.isFinal = false
            look.deliveries = [SmallHistory.delivery("apple", "retrying"), SmallHistory.delivery("windows")]
            $0.looks = [.record(look)]
            $0.records[0].deliveries[0].attempts = 2
        }
        #expect(verdict.passes, "\(verdict.text)")
    }

    @Test func `A drain that takes too long fails`() {
        let verdict = verdict { $0.records[1].deliveries[1].updatedAt = 60_201 }
        #expect(verdict.failures == ["drained after the last fault"])
    }

    @Test func `What is still owed is not drained`() {
        let verdict = verdict { $0.records[1].deliveries[1].state = "retrying" }
        #expect(verdict.failures == ["not settled at the end", "drained after the last fault"])
        #expect(verdict.row("drained after the last fault")?.value == "never")
    }
}
