import ChaosChecker
import Testing

/// Histories with reminders and withdrawals, and the checks that they fail.
@Suite struct CheckerReminderTests {
    /// Notification 0 asks for reminders, and its push on Apple's platform is repeated at these times.
    private func history(
        reminders: Int = 2, withdraw: String? = "off", pushesAt times: [Int64]
    ) -> SmallHistory {
        var history = SmallHistory()
        history.withdraw = withdraw
        history.sends[1] = .send(
            .init(
                time: 20, phase: .ok, number: 0, recipient: "user0", id: "id-0", status: 201, reminders: reminders))
        history.hub += times.map { push(at: $0) }
        return history
    }

    private func push(_ platform: String = "apple", at time: Int64, withdraws: Bool? = nil) -> HistoryEvent {
        .hub(
            .init(
                time: time, sequence: 9, platform: platform, id: "id-0", accepted: true, status: 201,
                devices: ["user0/\(platform)"], withdraws: withdraws))
    }

    /// All fetches of notification 0 at a time.
    private func fetched(at time: Int64, in history: inout SmallHistory) {
        history.reads = history.reads.map { event in
            guard case .fetch(var fetch) = event, fetch.id == "id-0" else { return event }
            fetch.time = time
            return .fetch(fetch)
        }
    }

    @Test func `Reminders before the fetch are fine`() {
        var history = history(pushesAt: [30_100, 60_200])
        fetched(at: 60_300, in: &history)
        #expect(history.verdict.passes, "\(history.verdict.text)")
        #expect(history.verdict.row("reminders that the hub took")?.value == "2")
    }

    @Test func `A reminder after the fetch is named`() {
        let verdict = history(pushesAt: [30_100]).verdict
        #expect(verdict.failures == ["reminders after a fetch"])
        #expect(verdict.row("reminders after a fetch")?.value == "1")
    }

    @Test func `A reminder in flight at the fetch is fine`() {
        var history = history(pushesAt: [30_100])
        fetched(at: 29_000, in: &history)
        #expect(history.verdict.passes, "\(history.verdict.text)")
    }

    @Test func `A stopped dispatcher sends a reminder late`() {
        var history = history(pushesAt: [36_000])
        fetched(at: 30_000, in: &history)
        let stop = "stop dispatcher-1"
        history.nemesis += [
            .nemesis(.init(time: 29_000, phase: .begin, fault: stop)),
            .nemesis(.init(time: 35_000, phase: .end, fault: stop)),
        ]
        // The bar of the drain is not met: nothing was settled for so long after the last fault.
        #expect(!history.verdict.failures.contains("reminders after a fetch"))
        #expect(history.verdict.row("  in flight in a stopped dispatcher at the fetch")?.value == "1")
        fetched(at: 20_000, in: &history)
        #expect(history.verdict.failures.contains("reminders after a fetch"))
    }

    @Test func `More reminders than asked for are duplicates`() {
        var history = history(reminders: 1, pushesAt: [30_100, 60_200])
        fetched(at: 70_000, in: &history)
        #expect(history.verdict.row("duplicate sends, unexplained")?.value == "1")
    }

    @Test func `A push soon after the first is no reminder`() {
        var history = history(pushesAt: [5000])
        fetched(at: 70_000, in: &history)
        #expect(history.verdict.row("duplicate sends, unexplained")?.value == "1")
        #expect(history.verdict.row("reminders that the hub took")?.value == "0")
    }

    @Test func `A late repetition of an unanswered request is no reminder`() {
        var history = history(pushesAt: [30_100])
        history.records[0].deliveries[0].unanswered = 1
        #expect(history.verdict.passes, "\(history.verdict.text)")
    }

    // MARK: Withdrawals

    /// Both notifications withdrawn from both platforms.
    private func withdrawn(_ mode: String) -> SmallHistory {
        var history = SmallHistory()
        history.withdraw = mode
        for number in 0..<2 {
            for platform in SmallHistory.platforms {
                history.hub.append(
                    .hub(
                        .init(
                            time: 60, sequence: 20, platform: platform, id: "id-\(number)", accepted: true,
                            status: 201, devices: ["user\(number)/\(platform)"], withdraws: true)))
            }
        }
        return history
    }

    @Test func `Withdrawals of what was read are fine`() {
        let verdict = withdrawn("read").verdict
        #expect(verdict.passes, "\(verdict.text)")
        #expect(verdict.row("  of which it took")?.value == "4")
        #expect(verdict.row("sends that reached the hub")?.value == "4")
    }

    @Test func `What was read and not withdrawn is named`() {
        var history = withdrawn("read")
        history.hub.removeLast()
        #expect(history.verdict.failures == ["read or revoked, but not withdrawn"])
        history.withdraw = "revoked"
        #expect(history.verdict.passes, "\(history.verdict.text)")
    }

    @Test func `A device need not show what another has read`() {
        var history = withdrawn("read")
        history.reads.removeLast()
        #expect(history.verdict.passes, "\(history.verdict.text)")
        history.withdraw = "off"
        #expect(history.verdict.failures == ["not shown on a live device"])
    }

    @Test func `What no device shows is named`() {
        var history = withdrawn("read")
        history.reads.removeAll { if case .show(let show) = $0 { show.id == "id-1" } else { false } }
        #expect(history.verdict.failures == ["shown on no device of the user"])
    }

    @Test func `What was never pushed is not withdrawn`() {
        var history = withdrawn("revoked")
        history.hub.removeFirst()
        history.records[0].deliveries[0].state = "skipped"
        #expect(history.verdict.failures == ["withdrawn but never pushed"])
    }

    @Test func `What was revoked disappears`() {
        var history = withdrawn("revoked")
        history.reads.append(.revoke(.init(time: 55, id: "id-0")))
        #expect(history.verdict.failures == ["shown after its withdrawal"])
        #expect(history.verdict.row("shown after its withdrawal")?.value == "2")
        for platform in SmallHistory.platforms {
            history.reads.append(.hide(.init(time: 70, device: "user0/\(platform)", id: "id-0")))
        }
        #expect(history.verdict.passes, "\(history.verdict.text)")
    }
}

extension Verdict {
    /// The last row of a name: two parts of the table count how many sends the hub took.
    fileprivate func row(_ name: String) -> Row? { rows.last { $0.name == name } }
}
