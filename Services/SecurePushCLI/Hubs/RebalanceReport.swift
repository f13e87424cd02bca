import Domain

struct RebalanceReport: Encodable, Sendable, Equatable {
    /// All devices that have registered.
    var devices = 0
    /// Devices whose hub does not have them, and devices that are to be looked at afterwards, when the run began.
    var toPut = 0
    var toSettle = 0
    /// Devices that were put at their hub.
    var put = 0
    /// Devices that are at no other hub any more.
    var settled = 0
    /// Devices that are not stored any more, and were deleted at the hubs.
    var removed = 0
    var failures = DeviceFailures()
    /// Devices that could not be put or moved.
    var failedDevices: Set<DeviceReference> = []
    var isDryRun = false
    var copyOnly = false
    var isInterrupted = false

    mutating func count(_ item: HubWriter.Item, _ reason: String?) {
        if let reason {
            if item.work != .delete { failedDevices.insert(item.device) }
            return failures.add(item.device, reason)
        }
        switch item.work {
        case .put, .copy: put += 1
        case .move: settled += 1
        case .delete: removed += 1
        }
    }

    var failed: Int { failures.count }

    /// The steps that are done and those that there are, for the progress. Nobody counts the devices that are not
    /// stored any more.
    var steps: (done: Int, total: Int) {
        let total = max(toPut + toSettle, put + settled + failed)
        return (put + settled + failed, total)
    }

    var summary: String {
        if isDryRun {
            let move = copyOnly ? "" : "; would remove \(toSettle.grouped) at other hubs, if they are there"
            return "would put \(toPut.grouped) of \(devices.grouped) devices at their users' hubs\(move)"
        }
        let moved = copyOnly ? "" : "; settled \(settled.grouped) at their users' hubs only"
        let gone = removed == 0 ? "" : "; deleted \(removed.grouped) that the database does not have any more"
        let end = isInterrupted ? "; interrupted, run it again to continue" : ""
        return "put \(put.grouped) of \(devices.grouped) devices at their users' hubs\(moved)\(gone); "
            + "\(failed.grouped) failed\(end)"
    }

    private enum CodingKeys: String, CodingKey {
        case devices, toPut, toSettle, put, settled, removed, failures = "Failed", isDryRun = "DryRun"
        case isInterrupted = "Interrupted"
    }
}
