package import Domain
import Foundations
import NIOHTTP1

/// Asks for the telemetry of a message: `GET /HUB/messages/ID` (Azure: "Get notification message telemetry").
extension HubDevices: HubTelemetry {
    package func outcome(ofMessage id: String, to recipient: UserName) async throws -> MessageOutcome? {
        // The ID comes from a response of the hub. These two would name another resource.
        if id == "." || id == ".." { return nil }
        let path = "messages/" + PercentCoding.encode(id)
        var response = try await perform(.GET, path)
        // The refusal has made a new token, perhaps of a newer connection string.
        if response.head.status == 401 { response = try await perform(.GET, path) }
        // 404: not far enough yet, or too old. The others concern this message only.
        if [400, 404, 410].contains(response.head.status) { return nil }
        try response.check()
        return NotificationDetails(response.body)?.outcome
    }
}

/// The questions to one hub of several do not pause because another one asks for it.
extension HubDevicesPool {
    /// The names of the hubs in the file, in lower case.
    package var hubNames: [String] { table.selection.names }

    /// The name of a user's hub, in lower case.
    package func hubName(for recipient: UserName) -> String { table.selection.name(for: recipient) }
}
