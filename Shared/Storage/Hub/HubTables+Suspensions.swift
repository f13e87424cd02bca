package import Foundations

/// The lanes whose devices are not removed for a wrong address, because too many addresses are wrong. This applies to
/// all processes, also after a restart.
extension HubTables {
    package func suspendRemovals(of lane: HubLaneKey, now: Timestamp) async throws {
        try await store.run(
            "INSERT INTO hub_suspensions (lane, since) VALUES (\(lane.text), \(now)) ON CONFLICT (lane) DO NOTHING")
    }

    package func resumeRemovals(of lane: HubLaneKey) async throws {
        try await store.run("DELETE FROM hub_suspensions WHERE lane = \(lane.text)")
    }

    package func suspendedLanes() async throws -> Set<HubLaneKey> {
        Set(try await store.all("SELECT lane FROM hub_suspensions").compactMap(HubLaneKey.init))
    }

    /// Like ``bury(_:ifUpdatedBefore:)``, for a device whose address is wrong.
    ///
    /// - Returns: `nil` if the removals of its lane are suspended.
    package func buryUnlessSuspended(_ device: HubFeedbackRow, ifUpdatedBefore time: Timestamp) async throws -> Int? {
        let lane = HubLaneKey(hub: device.hub, platform: device.platform)
        return try await store.write { db in
            if try db.exists("SELECT 1 FROM hub_suspensions WHERE lane = \(lane.text)") { return nil }
            return try db.bury(device, before: time)
        }
    }
}
