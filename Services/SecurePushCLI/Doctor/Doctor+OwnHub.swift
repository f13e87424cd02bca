import Foundations
import Hub
import ServiceRuntime

extension Doctor {
    /// Checks the user's own hub: that it is ready, that its lanes are open, which platforms are simulated, and what
    /// the push services say of the credentials of `PUSH_CREDENTIALS_FILE`.
    func ownHub() async -> [Finding] {
        var findings: [Finding] = []
        if let url = settings["HUB_URL"] {
            let service = await Doctor.service("HUB_URL", "hub", url)
            findings += service
            if !service.contains(where: \.isUnreachable) { findings += await Doctor.ownLanes("HUB_URL", url) }
        }
        if let path = settings["PUSH_CREDENTIALS_FILE"], let outgoing = try? settings.outgoing(),
            let platforms = try? HubTools.platforms(ofCredentialsFile: path, outgoing: outgoing)
        {
            let real = platforms.filter { !$0.isSimulated }
            let rows = await CredentialRow.all(real, databaseURL: settings["DATABASE_URL"])
            findings += zip(rows, real).map { Doctor.credentials($0, $1.title) }
        }
        return findings
    }

    static func credentials(_ row: CredentialRow, _ title: String) -> Finding {
        let part = "hub \(row.hub)"
        let reason = row.reason.map { $0.isEmpty ? "" : " (\($0))" } ?? ""
        switch row.state {
        case .good, .simulated: return .ok(part, "\(title) accepts the credentials")
        case .refused:
            return .failed(
                part, "\(title) refuses the credentials\(reason)",
                "Correct \(row.platform) in PUSH_CREDENTIALS_FILE. No push is lost meanwhile, until HUB_RETRY_FOR has "
                    + "passed.")
        case .unknown:
            // The hub may run on a machine with another way out than this one.
            return .warning(
                part, "\(title) does not say whether it accepts the credentials\(reason)",
                "Can this machine reach the push service by HTTPS? HTTPS_PROXY names a proxy.")
        }
    }

    private static func ownLanes(_ part: String, _ url: String) async -> [Finding] {
        guard let client = try? APIClient(service: "hub", url: url, timeout: .seconds(5)),
            let poll = try? await ProcessPoll({ path in
                let answer = try await client.send(.get, path)
                return (answer.status, answer.body)
            })
        else { return [] }
        return ownLanes(part, HubLaneRow.rows(ProcessState(poll)), simulated: poll.readiness.simulated)
    }

    static func ownLanes(_ part: String, _ rows: [HubLaneRow], simulated: [String]) -> [Finding] {
        func names(_ rows: [HubLaneRow]) -> String {
            rows.map { "\($0.hub)/\($0.platform)".oneLine }.joined(separator: ", ")
        }
        var findings: [Finding] = []
        let refused = rows.filter { $0.state == .refused }
        let paused = rows.filter { $0.state == .paused }
        let suspended = rows.filter(\.removalsSuspended)
        if !refused.isEmpty {
            findings.append(
                .failed(
                    part, "push services refuse the credentials of \(names(refused))",
                    "Run `securepush hub check`, and correct PUSH_CREDENTIALS_FILE. The pushes wait meanwhile."))
        }
        if !suspended.isEmpty {
            findings.append(
                .failed(
                    part, "too many devices of \(names(suspended)) have wrong addresses, and none is removed",
                    "Is it the right environment, app or sender? Removing begins again when the credentials change."))
        }
        if !paused.isEmpty {
            findings.append(
                .warning(
                    part, "\(names(paused)) is paused: the push service throttles, fails or cannot be reached",
                    "The hub tries again by itself, and its log names the reason."))
        }
        if !simulated.isEmpty {
            findings.append(
                .warning(
                    part, "simulated, so that no push reaches a device: \(simulated.joined(separator: ", ").oneLine)",
                    "Give these platforms credentials in PUSH_CREDENTIALS_FILE, unless this is a trial."))
        }
        if findings.isEmpty, !rows.isEmpty { findings.append(.ok(part, "the lanes are open: \(names(rows))")) }
        return findings
    }
}
