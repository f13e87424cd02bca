import Foundations
import ServiceRuntime

extension Doctor {
    /// Checks that the dispatchers of `DISPATCHER_URL` are ready, and that their lanes are open.
    func dispatchers() async -> [Finding] {
        let part = "DISPATCHER_URL"
        let urls = ServiceURL.list(settings[part] ?? "")
        var findings: [Finding] = []
        for url in urls.prefix(Self.maxDispatchers) {
            let name = urls.count == 1 ? part : "\(part) \(PublicURL.describe(url))"
            let service = await Doctor.service(part, "dispatcher", url)
            findings += service.map { finding in
                var finding = finding
                finding.part = name
                return finding
            }
            if service.contains(where: \.isUnreachable) { continue }
            if let lanes = await Doctor.lanes(name, url) { findings.append(lanes) }
        }
        if urls.count > Self.maxDispatchers {
            let rest = urls.count - Self.maxDispatchers
            findings.append(
                .warning(part, "\(rest.grouped) more dispatchers are not examined", "Give them in another run."))
        }
        return findings
    }

    /// More are a mistake in the setting.
    private static let maxDispatchers = 100

    /// The lanes of one dispatcher; `nil` if its metrics cannot be read, which ``service(_:_:_:)`` reports.
    private static func lanes(_ part: String, _ url: String) async -> Finding? {
        guard let client = try? APIClient(service: "dispatcher", url: url, timeout: .seconds(5)),
            let response = try? await client.send(.get, "/metrics"), response.isSuccess
        else { return nil }
        return lanes(part, PrometheusSamples(response.body))
    }

    /// - Parameter samples: the metrics of a dispatcher; `nil` is returned if they have no lanes.
    static func lanes(_ part: String, _ samples: PrometheusSamples) -> Finding? {
        let lanes = samples["securepush_lane_state"].map { sample in
            (name: (sample.labels["platform"] ?? "?").oneLine, state: sample.value)
        }.sorted { $0.name < $1.name }
        if lanes.isEmpty { return nil }
        let faulty = lanes.filter { $0.state == 2 }.map(\.name)
        let paused = lanes.filter { $0.state == 1 }.map(\.name)
        if !faulty.isEmpty {
            return .failed(
                part, "the hub refuses the credentials for \(list(faulty)), or there is no hub of this name",
                "Correct HUB_CONNECTION_STRING or its file, or HUB_NAME, of the dispatcher. Its log names the reason. "
                    + "No notification is lost meanwhile.")
        }
        if !paused.isEmpty {
            return .warning(
                part, "the lane is paused for \(list(paused)): the hub throttles, fails or is slow",
                "The dispatcher tries again by itself, and its log names the reason. No notification is lost meanwhile."
            )
        }
        return .ok(part, "the lanes are open: \(list(lanes.map(\.name)))")
    }

    /// Each name once: a dispatcher has a lane per platform and hub.
    private static func list(_ names: [String]) -> String {
        names.reduce(into: []) { if $0.last != $1 { $0.append($1) } }.joined(separator: ", ")
    }
}
