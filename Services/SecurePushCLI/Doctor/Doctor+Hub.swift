import AsyncHTTPClient
import Domain
import Foundations
import NIOCore
import NIOHTTP1
import NotificationHubs
import ServiceRuntime

extension Doctor {
    /// Checks that the hub answers and accepts the credentials, by asking for the registrations of an unknown device.
    ///
    /// With `HUB_POOL_FILE` it checks each hub of the file.
    func hub() async -> [Finding] {
        let keys = ["HUB_POOL_FILE", "HUB_CONNECTION_STRING", "HUB_CONNECTION_STRING_FILE"]
        guard let key = keys.first(where: { settings[$0] != nil }) else { return [] }
        let isPool = key == "HUB_POOL_FILE"
        let part = isPool ? key : "HUB_CONNECTION_STRING"
        do {
            var findings: [Finding] = []
            var endpoints: Set<String> = []
            for hub in try settings.hubs().hubs {
                findings.append(await Doctor.answer(isPool ? "\(part) (\(hub.hubName))" : part, hub))
                guard endpoints.insert(hub.endpoint.url).inserted else { continue }
                if let clock = await Doctor.clock(at: hub.endpoint.url) { findings.append(clock) }
            }
            return findings
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = "Correct " + (isPool ? "the lines of the file." : "HUB_CONNECTION_STRING and HUB_NAME.")
            return [.failed(part, failure.message, failure.hint ?? advice)]
        }
    }

    private static func answer(_ part: String, _ configuration: NotificationHubConfiguration) async -> Finding {
        do {
            try await ask(configuration)
            return .ok(part, "\(configuration) answers and accepts the credentials")
        } catch let error as PushGatewayError {
            return Doctor.hub(part, error)
        } catch {
            return .failed(part, ErrorText.describe(error), "Correct HUB_CONNECTION_STRING and HUB_NAME.")
        }
    }

    static func hub(_ part: String, _ error: PushGatewayError) -> Finding {
        switch error.code {
        case .unauthorized:
            return .failed(
                part, error.message,
                "Copy the connection string again, from a policy with Listen, Send and Manage. 401 means a wrong key "
                    + "or a wrong clock, 403 a policy without the needed right.")
        case .throttled:
            return .unreachable(
                part, error.message, "The hub has reached the limit of its tier. Wait, or use a larger tier.")
        case .unavailable:
            return .unreachable(part, error.message, "Check that the hub's host can be reached on port 443.")
        default: return .failed(part, error.message, "Check the name of the hub (HUB_NAME).")
        }
    }

    private static func ask(_ configuration: NotificationHubConfiguration) async throws {
        let hub = HubDevices(configuration: configuration, logger: .silent)
        _ = try await withRunning(hub) { try await hub.registrations(handle: "securepush-doctor") }
    }
}

extension Doctor {
    /// The tolerated difference to the hub's clock. Signatures expire, and the hub uses its own clock to check them.
    private static let tolerance = Duration.seconds(300)

    /// Compares this machine's clock with the hub's `Date` header (RFC 9110, 6.6.1); `nil` if there is none.
    static func clock(at url: String) async -> Finding? {
        var request = HTTPClientRequest(url: url + "/")
        request.headers.add(name: "User-Agent", value: "securepush")
        guard let response = try? await Network.current.client(for: url).execute(request, timeout: .seconds(5)),
            let date = response.headers.first(name: "Date"), let time = Timestamp(httpDate: date)
        else { return nil }
        return clock(hub: time, here: .now)
    }

    static func clock(hub: Timestamp, here: Timestamp) -> Finding? {
        let skew = max(hub, here) - min(hub, here)
        guard skew > tolerance else { return nil }
        return .failed(
            "clock", "this machine's clock is \(skew.spoken) \(here < hub ? "behind" : "ahead of") the hub's",
            "Synchronise the clock with NTP (timedatectl set-ntp true). The hub refuses signatures of another time.")
    }
}
