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
            let clock = await Doctor.clock(at: configuration.endpoint.url)
            return [await Doctor.answer(part, configuration)] + [clock].compactMap { $0 }
        } catch {
            let failure = CommandFailure(describing: error)
            return [.faulty(part, failure.message, failure.hint ?? "Correct HUB_CONNECTION_STRING and HUB_NAME.")]
        }
    }

    private static func answer(_ part: String, _ configuration: NotificationHubConfiguration) async -> Finding {
        do {
            try await ask(configuration)
            return .ok(part, "\(configuration) answers and takes our key")
        } catch let error as PushGatewayError {
            return Doctor.hub(part, error)
        } catch {
            return .faulty(part, "\(error)", "Correct HUB_CONNECTION_STRING and HUB_NAME.")
        }
    }

    static func hub(_ part: String, _ error: PushGatewayError) -> Finding {
        switch error.code {
        case .unauthorized:
            return .faulty(
                part, error.message,
                "Copy the connection string again, from a rule with Listen, Send and Manage: 401 is a wrong key or "
                    + "clock, 403 a rule without a right.")
        case .throttled:
            return .unreachable(part, error.message, "The hub is at its tier's limit: wait, or take a larger tier.")
        case .unavailable:
            return .unreachable(part, error.message, "Can the hub's host be reached from here, on port 443?")
        default: return .faulty(part, error.message, "Is the hub's name right (HUB_NAME)?")
        }
    }

    private static func ask(_ configuration: NotificationHubConfiguration) async throws {
        let devices = HubDevices(
            configuration: configuration, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Closes its client when it is cancelled.
            group.addTask { try await devices.run() }
            defer { group.cancelAll() }
            _ = try await devices.registrations(handle: "securepush-doctor")
        }
    }
}
