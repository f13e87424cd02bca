package import Foundations

/// The reports of devices about shown texts. A report is removed with its notification.
package protocol DeviceReportStore: Sendable {
    /// Stores the report of a device in place of its earlier one about the same notification. Without effect for a
    /// notification with ``ShownDevice/maxStored`` others.
    ///
    /// - Returns: the hub's name of the device's platform; `nil` if the user has no such installation. Nothing is stored
    ///   then.
    func report(
        _ report: DeviceReport, of id: NotificationID, by device: String, owner: UserName, now: Timestamp
    ) async throws -> String?

    /// The newest reports about a notification.
    func shownDevices(of id: NotificationID, limit: Int) async throws -> [ShownDevice]

    /// The devices that have shown the generic text since a time, the most frequent reasons first. It examines at most
    /// ``GenericTextCount/maxScan`` reports.
    func genericTexts(since: Timestamp) async throws -> [GenericTextCount]
}
