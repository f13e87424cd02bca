/// Reminders and withdrawals: a notification crosses the hub again. No reminder of it may do so after a fetch.
extension Checker {
    /// The time in which a dispatcher could not act on a read: it was stopped, or the hub gave it no answer.
    struct Pause: Sendable, Equatable {
        var fault: String
        var begin: Int64
        /// The largest number while the fault lasts.
        var end: Int64
    }

    /// From the answer to a fetch to the arrival of a reminder that was in flight by then, in milliseconds.
    static let reminderGrace: Int64 = 2000
    /// Reminders are at least 30 s apart; pushes that follow earlier are repeated requests. A little less, because the
    /// dispatcher counts from its own record of the push.
    static let reminderGap: Int64 = 27_000

    mutating func note(pause nemesis: HistoryEvent.Nemesis) {
        guard nemesis.fault.hasPrefix("stop dispatcher") || nemesis.fault.hasPrefix("silence dispatcher") else {
            return
        }
        switch nemesis.phase {
        case .begin: pauses.append(Pause(fault: nemesis.fault, begin: nemesis.time, end: .max))
        case .end:
            guard let index = pauses.lastIndex(where: { $0.fault == nemesis.fault && $0.end == .max }) else { return }
            pauses[index].end = nemesis.time
        }
    }

    func addReminders(to verdict: inout Verdict) {
        let asked = notifications.values.reduce(0) { $0 + ($1.reminders > 0 ? 1 : 0) }
        guard asked > 0 else { return }
        var (sent, late, inFlight) = (0, 0, 0)
        for (id, trace) in notifications where trace.reminders > 0 {
            for platform in trace.pushes.keys.sorted() {
                let times = trace.reminderTimes(platform)
                sent += times.count
                guard let read = trace.firstRead else { continue }
                var found = 0
                for time in times where time > read + Self.reminderGrace {
                    if wasInFlight(from: read, to: time) { inFlight += 1 } else { found += 1 }
                }
                // The repetition of a request without an answer is no reminder.
                let unanswered = reasons(for: trace, platform)
                found = max(0, found - max(0, unanswered - trace.duplicates(platform)))
                if found > 0 { verdict.remark("\(id) was pushed to \(platform) again after a fetch") }
                late += found
            }
        }
        verdict.note("notifications with reminders", asked)
        verdict.note("reminders that the hub took", sent)
        verdict.note("  in flight in a stopped dispatcher at the fetch", inFlight)
        verdict.bar("reminders after a fetch", late, "0", late == 0)
    }

    /// Whether the push was in flight at the fetch: its dispatcher was stopped then, and has just gone on.
    private func wasInFlight(from read: Int64, to push: Int64) -> Bool {
        pauses.contains { pause in
            let end = pause.end == .max ? pause.end : pause.end + Self.reminderGrace
            return read >= pause.begin - Self.reminderGrace && read <= end && push <= end
        }
    }

    func addWithdrawals(to verdict: inout Verdict) {
        guard let mode = run?.withdraw, mode != "off" else { return }
        var (taken, unpushed, owed, remaining, revoked) = (0, 0, 0, 0, 0)
        for (id, trace) in notifications {
            taken += trace.withdrawals.values.reduce(0, +)
            unpushed += trace.withdrawals.keys.count { trace.pushes[$0] == nil }
            if trace.wasRevoked { revoked += 1 }
            let isDue = trace.wasRevoked || (mode == "read" && trace.firstRead != nil)
            let missing = trace.pushes.keys.filter {
                isDue && trace.withdrawals[$0] == nil && trace.delivery(platform(of: $0))?.state == "sent"
            }
            owed += missing.count
            for platform in missing.sorted() { verdict.remark("\(id) was not withdrawn from \(platform)") }
            // With `read`, the one withdrawal may have been for the read: then the device that has read it keeps it.
            guard trace.wasRevoked, mode != "read" || trace.firstRead == nil else { continue }
            remaining += trace.shown.keys.count { trace.withdrawnFrom.contains($0) && !trace.hidden.contains($0) }
        }
        verdict.note("revoked by the sender", revoked)
        verdict.note("withdrawals that reached the hub", withdrawalSends)
        verdict.note("  of which it took", taken)
        verdict.bar("withdrawn but never pushed", unpushed, "0", unpushed == 0)
        verdict.bar("read or revoked, but not withdrawn", owed, "0", owed == 0)
        verdict.bar("shown after its withdrawal", remaining, "0", remaining == 0)
    }
}

extension Checker.Trace {
    /// Whether the sender revoked it, by its answer or, if that was lost, by the store.
    var wasRevoked: Bool { isRevoked || record?.isRevoked == true }

    /// The times of a platform's pushes that are reminders: as many as were asked for, each long after the last push.
    func reminderTimes(_ platform: String) -> [Int64] {
        guard reminders > 0, let times = pushes[platform]?.sorted() else { return [] }
        var found: [Int64] = []
        for (last, time) in zip(times, times.dropFirst())
        where found.count < reminders && time - last >= Checker.reminderGap { found.append(time) }
        return found
    }

    /// A platform's pushes beyond the first and the reminders.
    func duplicates(_ platform: String) -> Int {
        max(0, (pushes[platform]?.count ?? 0) - 1 - reminderTimes(platform).count)
    }
}
