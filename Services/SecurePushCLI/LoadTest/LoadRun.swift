/// One load test from its beginning to its end.
struct LoadRun: Sendable {
    let target: any LoadTarget
    let ledger: LoadLedger
    let stop: StopRequest
    /// The simulated devices, if there are any.
    var devices: LoadDevices?

    /// - Throws: when nothing could be measured; otherwise the ledger tells what could not.
    func run() async throws {
        guard let devices else { return try await sendAndWatch() }
        try await devices.register()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await devices.listen() }
                try await devices.connected()
                try await sendAndWatch()
                if ledger.plan.waits { try await devices.finished(stop) }
                group.cancelAll()
            }
        } catch {
            await devices.unregister()
            throw error
        }
        await devices.unregister()
    }

    private func sendAndWatch() async throws {
        let watch = DispatchWatch(target: target, ledger: ledger, stop: stop)
        try await withThrowingTaskGroup(of: Void.self) { group in
            if ledger.plan.waits { group.addTask { try await watch.run() } }
            do {
                try await LoadSender(target: target, ledger: ledger, stop: stop).run()
            } catch let failure as CommandFailure {
                guard ledger.update({ $0.accepted.count > 0 }) else { throw failure }
                ledger.note(problem: failure.message)
            }
            try await group.waitForAll()
        }
    }
}
