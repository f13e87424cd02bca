import ChaosChecker
import Testing

/// What the checker holds against hubs of one's own.
@Suite struct CheckerHubTests {
    private func verdict(_ spoil: (inout OwnHubHistory) -> Void) -> Verdict {
        var history = OwnHubHistory()
        spoil(&history)
        return history.verdict
    }

    @Test func `A good history passes`() {
        let verdict = OwnHubHistory().verdict
        #expect(verdict.passes, "\(verdict.text)")
        #expect(verdict.row("duplicate sends, explained")?.value.hasPrefix("2 ") == true)
        #expect(verdict.row("  of which it answered badly")?.value == "20.00 %")
    }

    @Test func `What one device of a user never got is lost`() {
        let verdict = verdict { $0.pushes.remove(at: 1) }
        #expect(verdict.failures == ["lost (notification and device)"])
        #expect(verdict.row("lost (notification and device)")?.value == "1")
    }

    @Test func `A push that comes again without a reason is unexplained`() {
        let verdict = verdict { $0.pushes.append(OwnHubHistory.push(0, 2, at: 5000)) }
        #expect(verdict.failures == ["duplicate sends, unexplained"])
        #expect(verdict.row("duplicate sends, unexplained")?.value == "1")
    }

    @Test func `A lost answer explains one push more and no second`() {
        let verdict = verdict { $0.pushes.append(OwnHubHistory.push(0, 1, at: 5000)) }
        #expect(verdict.failures == ["duplicate sends, unexplained"])
    }

    @Test func `A lost answer of another device explains nothing`() {
        let verdict = verdict {
            $0.pushes[0] = OwnHubHistory.push(0, 1, at: 1000)
            $0.pushes[1] = OwnHubHistory.push(0, 2, at: 1000, answer: "lost")
        }
        #expect(verdict.failures == ["duplicate sends, unexplained"])
    }

    @Test func `The answer that is lost last explains nothing`() {
        let verdict = verdict {
            $0.pushes[0] = OwnHubHistory.push(0, 1, at: 1000)
            $0.pushes[4] = OwnHubHistory.push(0, 1, at: 2000, answer: "lost")
        }
        #expect(verdict.failures == ["duplicate sends, unexplained"])
    }

    @Test(arguments: [OwnHubHistory.killTime - 3500, OwnHubHistory.killTime + 1500])
    func `A kill explains nothing that was pushed long before or after it`(_ time: Int64) {
        let verdict = verdict { $0.pushes[3] = OwnHubHistory.push(1, 2, at: time) }
        #expect(verdict.failures == ["duplicate sends, unexplained"])
    }

    @Test(arguments: [OwnHubHistory.databaseTime - 2500, OwnHubHistory.databaseTime + 4000])
    func `A database that is away explains a repetition`(_ time: Int64) {
        let verdict = verdict {
            $0.pushes[1] = OwnHubHistory.push(0, 2, at: time)
            $0.pushes.append(OwnHubHistory.push(0, 2, at: OwnHubHistory.databaseTime + 60_000))
        }
        #expect(verdict.passes, "\(verdict.text)")
    }

    @Test func `A request that the dispatcher knows no answer to explains one push of each device`() {
        let verdict = verdict {
            $0.pushes += [OwnHubHistory.push(0, 1, at: 6000), OwnHubHistory.push(0, 2, at: 6000)]
            $0.records[0].deliveries[0].unanswered = 1
        }
        #expect(verdict.passes, "\(verdict.text)")
    }

    @Test func `A device that lives and is no longer registered is wrongly removed`() {
        let verdict = verdict { $0.service.registered.removeLast() }
        #expect(verdict.failures == ["devices wrongly removed"])
        #expect(verdict.row("devices wrongly removed")?.value == "1")
    }

    @Test func `A device that the push service does not hold alive may be gone but must be known`() {
        let verdict = verdict {
            $0.service.registered.removeLast()
            $0.service.alive.removeLast()
        }
        #expect(verdict.failures == ["devices that the push service knows"])
    }

    @Test func `Without the push service's word nothing is proved`() {
        let events = OwnHubHistory().events.filter { event in
            if case .pushService = event { false } else { true }
        }
        #expect(Checker.check(events).failures == ["devices wrongly removed"])
    }

    @Test func `A push that is refused as wrong is named`() {
        let verdict = verdict { $0.service.counts["refused.403 BadJwtToken"] = 1 }
        #expect(verdict.failures == ["pushes that the push service refused as wrong"])
    }

    @Test func `A protocol error is named`() {
        let verdict = verdict { $0.service.problems = ["HTTP/2: too many streams"] }
        #expect(verdict.failures == ["protocol errors that the push service saw"])
    }

    @Test func `An endpoint or a key in a log is named`() {
        let verdict = verdict {
            $0.search = .leak(
                .init(place: "service logs", found: 1, searchedBytes: 1000, subject: "endpoints or keys"))
        }
        #expect(verdict.failures == ["endpoints or keys in service logs (1 kB)"])
    }

    @Test func `Logs that nobody searched prove nothing`() {
        #expect(verdict { $0.search = nil }.failures == ["logs searched for endpoints and keys"])
    }
}
