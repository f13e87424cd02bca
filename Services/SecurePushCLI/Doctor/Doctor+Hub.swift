import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOHTTP1
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

extension Doctor {
    /// How far this machine's clock may be from the hub's: signatures are for a time, and a hub refuses those that
    /// have expired by its own clock.
    private static let tolerance = Duration.seconds(300)

    /// Compares this machine's clock with the hub's `Date` (RFC 9110, 6.6.1); nothing where it tells none.
    static func clock(at url: String) async -> Finding? {
        var request = HTTPClientRequest(url: url + "/")
        request.headers.add(name: "User-Agent", value: "securepush")
        guard let response = try? await APIClient.sharedClient.execute(request, timeout: .seconds(5)),
            let date = response.headers.first(name: "Date"), let time = hubTime(date)
        else { return nil }
        return clock(hub: time, here: .now)
    }

    static func clock(hub: Timestamp, here: Timestamp) -> Finding? {
        let skew = max(hub, here) - min(hub, here)
        guard skew > tolerance else { return nil }
        return .faulty(
            "clock", "this machine's clock is \(skew.spoken) \(here < hub ? "behind" : "ahead of") the hub's",
            "Set the clock by NTP (timedatectl set-ntp true); the hub refuses signatures of another time.")
    }

    /// The preferred form of an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func hubTime(_ text: String) -> Timestamp? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text).map { Timestamp(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
    }
}
