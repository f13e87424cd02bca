import Logging
import NotificationHubs
import SecurePushCore
import ServiceLifecycle

extension Doctor {
    /// The hub answers and takes our credentials, asked for the registrations of a device that does not exist.
    func hub() async -> [Finding] {
        let part = "HUB_CONNECTION_STRING"
        guard settings[part] != nil || settings["HUB_CONNECTION_STRING_FILE"] != nil else { return [] }
        do {
            let text = try settings[part] ?? SecretFile.read(settings["HUB_CONNECTION_STRING_FILE"] ?? "")
            let configuration = try NotificationHubConfiguration(
                connectionString: text, hubName: settings["HUB_NAME"] ?? "",
                insecureHost: settings["HUB_INSECURE_HOST"])
            try await Doctor.ask(configuration)
            return [.ok(part, "\(configuration) answers and takes our key")]
        } catch let error as PushGatewayError {
            let advice =
                error.code == .unauthorized
                ? "Copy the connection string again, from a rule with Listen, Send and Manage."
                : "Is the hub's name right (HUB_NAME), and can its host be reached from here?"
            return error.code == .unavailable || error.code == .throttled
                ? [.unreachable(part, error.message, advice)] : [.faulty(part, error.message, advice)]
        } catch {
            let failure = CommandFailure(describing: error)
            return [.faulty(part, failure.message, failure.hint ?? "Correct HUB_CONNECTION_STRING and HUB_NAME.")]
        }
    }

    private static func ask(_ configuration: NotificationHubConfiguration) async throws {
        let registrations = HubRegistrations(
            configuration: configuration, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Closes its client when it is cancelled.
            group.addTask { try await registrations.run() }
            defer { group.cancelAll() }
            _ = try await registrations.registrations(handle: "securepush-doctor")
        }
    }
}
