import Storage

/// Removes devices, and stores and reads the decisions about removals, one after another.
struct DeviceRemovals: Sendable {
    let lanes: PushLanes
    let tables: HubTables
    let clock: DeliveryClock

    /// Each is a separate transaction. After an error all of them may be repeated: a removed device is not found again,
    /// and a stored decision does not count as unwritten any more.
    func write(_ removals: [DeviceRemoval]) async throws {
        for removal in removals {
            switch removal {
            case .gone(let device):
                let count = try await tables.bury(device.feedback, ifUpdatedBefore: device.removedBefore)
                device.feedback.countRemoved(count)
            case .wrong(let device): try await remove(device)
            case .decided(let key): _ = try await writeDecision(of: lanes.lane(key))
            case .look: try await look()
            }
        }
    }

    private func remove(_ device: DeadDevice) async throws {
        let feedback = device.feedback
        let lane = lanes.lane(HubLaneKey(hub: feedback.hub, platform: feedback.platform))
        var (number, turn) = lane?.decisions ?? (0, nil)
        // The decision that ends a suspension may be behind this removal in the queue, although the removal depends on
        // it. A suspension affects only the removals behind it.
        if turn == .resumed { number = try await writeDecision(of: lane) }
        let count = try await tables.buryUnlessSuspended(feedback, ifUpdatedBefore: device.removedBefore)
        if let count { return feedback.countRemoved(count) }
        lane?.follow(removalsAreSuspended: true, after: number)
    }

    /// Writes the decision of this process for a lane, unless it is written already.
    ///
    /// - Returns: the number of decisions that are written.
    private func writeDecision(of lane: PushLane?) async throws -> Int {
        guard let lane else { return 0 }
        let (number, turn) = lane.decisions
        switch turn {
        case .suspended: try await tables.suspendRemovals(of: lane.key, now: clock.now())
        case .resumed: try await tables.resumeRemovals(of: lane.key)
        case nil: return number
        }
        lane.noteWritten(number)
        return number
    }

    /// Applies the decisions of all processes.
    private func look() async throws {
        var numbers: [HubLaneKey: Int] = [:]
        for lane in lanes.all { numbers[lane.key] = try await writeDecision(of: lane) }
        let suspended = try await tables.suspendedLanes()
        for key in suspended { _ = lanes.lane(key) }
        for lane in lanes.all {
            lane.follow(removalsAreSuspended: suspended.contains(lane.key), after: numbers[lane.key] ?? 0)
        }
    }
}
