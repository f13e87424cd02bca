import ChaosChecker
import Testing

/// What the checker holds against hubs of one's own.
@Suite struct CheckerHubTests {
    private static let ofBrowsers = "browser: lost, wrongly removed, repeated without a reason"
    private static let ofPhones = "apple: lost, wrongly removed, repeated without a reason"

    private func verdict(_ spoil: (inout OwnHubHistory) -> Void) -> Verdict {
        var history = OwnHubHistory()
        spoil(&history)
        return history.verdict
    }

    @Test func `A good history passes`() {
        let verdict = OwnHubHistory().verdict
        #expect(verdict.passes, "\(verdict.text)")
        #expect(verdict.row("duplicate sends, explained")?.value.hasPrefix("2 ") == true)
        #expect(verdict.row("  of which they answered badly")?.value == "20.00 %")
    }

    @Test func `What one device of a user never got is lost`() {
        let verdict = verdict { $0.pushes.remove(at: 1) }
        #expect(verdict.failures == ["lost (notification and device)", Self.ofBrowsers])
        #expect(verdict.row("lost (notification and device)")?.value == "1")
    }

    /// Otherwise a hub that refuses every send would lose nothing.
    @Test func `Many deliveries that are given up do not pass`() {
        let verdict = verdict { $0.records[0].deliveries[0] = SmallHistory.delivery("browser", "dead") }
        #expect(verdict.failures == ["deliveries that are dead, visibly"])
    }

    @Test func `What is wrong with a platform stands in its row`() {
        let verdict = verdict {
            $0.pushes.removeLast()
            $0.pushes.append(OwnHubHistory.push(0, 3, at: 5000))
            $0.apns.registered = []
        }
        #expect(verdict.row(Self.ofPhones)?.value == "1, 2, 1")
        #expect(verdict.row(Self.ofBrowsers)?.value == "0, 0, 0")
        #expect(verdict.row("apple: pushes accepted, devices")?.value == "2, 2")
    }

    @Test func `A push that comes again without a reason is unexplained`() {
        let verdict = verdict { $0.pushes.append(OwnHubHistory.push(0, 2, at: 5000)) }
        #expect(verdict.failures == ["duplicate sends, unexplained", Self.ofBrowsers])
        #expect(verdict.row("duplicate sends, unexplained")?.value == "1")
    }

    @Test func `A lost answer explains one push more and no second`() {
        let verdict = verdict { $0.pushes.append(OwnHubHistory.push(0, 1, at: 5000)) }
        #expect(verdict.failures == ["duplicate sends, unexplained", Self.ofBrowsers])
    }

    @Test func `A lost answer of another device explains nothing`() {
        let verdict = verdict {
            $0.pushes[0] = OwnHubHistory.push(0, 1, at: 1000)
            $0.pushes[1] = OwnHubHistory.push(0, 2, at: 1000, answer: "lost")
        }
        #expect(verdict.failures == ["duplicate sends, unexplained", Self.ofBrowsers])
    }

    @Test func `The answer that is lost last explains nothing`() {
        let verdict = verdict {
            $0.pushes[0] = OwnHubHistory.push(0, 1, at: 1000)
            $0.pushes[4] = OwnHubHistory.push(0, 1, at: 2000, answer: "lost")
        }
        #expect(verdict.failures == ["duplicate sends, unexplained", Self.ofBrowsers])
    }

    @Test(arguments: [OwnHubHistory.killTime - 3500, OwnHubHistory.killTime + 1500])
    func `A kill explains nothing that was pushed long before or after it`(_ time: Int64) {
        let verdict = verdict { $0.pushes[3] = OwnHubHistory.push(1, 2, at: time) }
        #expect(verdict.failures == ["duplicate sends, unexplained", Self.ofBrowsers])
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
        #expect(verdict.failures == ["devices wrongly removed", Self.ofBrowsers])
        #expect(verdict.row("devices wrongly removed")?.value == "1")
    }

    @Test func `A device that the push service does not hold alive may be gone but must be known`() {
        let verdict = verdict {
            $0.service.registered.removeLast()
            $0.service.alive.removeLast()
        }
        #expect(verdict.failures == ["devices that the push services know"])
    }

    @Test(arguments: ["browser", "apple"])
    func `Without a push service's word nothing is proved`(_ platform: String) {
        let events = OwnHubHistory().events.filter { event in
            if case .pushService(let state) = event { state.platform != platform } else { true }
        }
        #expect(Checker.check(events).failures == ["devices wrongly removed"])
    }

    @Test func `A push that is refused as wrong is named`() {
        let verdict = verdict { $0.service.counts["refused.403 BadJwtToken"] = 1 }
        #expect(verdict.failures == ["pushes that a push service refused as wrong"])
    }

    @Test func `A protocol error is named`() {
        let verdict = verdict { $0.service.problems = ["HTTP/2: too many streams"] }
        #expect(verdict.failures == ["protocol errors that the push services saw"])
    }

    @Test func `A handle or a key in a log is named`() {
        let verdict = verdict {
            $0.search = .leak(
                .init(place: "service logs", found: 1, searchedBytes: 1000, subject: "handles or keys"))
        }
        #expect(verdict.failures == ["handles or keys in service logs (1 kB)"])
    }

    @Test func `Logs that nobody searched prove nothing`() {
        #expect(verdict { $0.search = nil }.failures == ["logs searched for handles and keys"])
    }
}
