import Foundations
import SecurePushClient
import ServiceRuntime

extension Doctor {
    /// Checks that the services are ready and have the version of this program.
    func services() async -> [Finding] {
        var findings: [Finding] = []
        for (part, service) in [
            ("INGEST_URL", "ingest"), ("RETRIEVAL_URL", "retrieval"), ("HUB_EMULATOR_URL", "hub-emulator"),
        ] {
            guard let url = settings[part] else { continue }
            let found = await Doctor.service(part, service, url)
            findings += found
            if service == "ingest", !found.contains(where: \.isUnreachable), let key = await apiKey(url) {
                findings.append(key)
            }
        }
        return findings
    }

    /// Whether ingest knows the sender's key: asks for the newest notification of the sender. `nil` without a key, and
    /// if ingest cannot tell, which the line of ingest explains.
    private func apiKey(_ url: String) async -> Finding? {
        let part = "INGEST_API_KEY"
        do {
            guard let key = try ClientCredentials.bearer(setting: part, settings) else { return nil }
            var client = try APIClient(service: "ingest", url: url, timeout: .seconds(5))
            client.authorization = key.authorization
            return Doctor.apiKey(status: try await client.send(.get, "/api/notifications?limit=1").status)
        } catch let failure as CommandFailure where failure.code == .configuration {
            return .failed(part, failure.message, failure.hint ?? "Correct \(part).")
        } catch {
            return nil
        }
    }

    static func apiKey(status: Int) -> Finding? {
        let part = "INGEST_API_KEY"
        switch status {
        case 200: return .ok(part, "ingest knows the key")
        case 401, 403:
            return .failed(
                part, "ingest refuses the key (\(status))",
                "Compare it with `securepush api-keys list` of this installation; `api-keys add NAME` makes one.")
        default: return nil
        }
    }

    /// One service: whether it is ready, and whether another one answers in its place.
    static func service(_ part: String, _ service: String, _ url: String) async -> [Finding] {
        let readiness = await readiness(part, service, url)
        if readiness.isUnreachable { return [readiness] }
        return [readiness] + [await version(part, service, url)].compactMap { $0 }
    }

    private static func readiness(_ part: String, _ service: String, _ url: String) async -> Finding {
        do {
            let client = try APIClient(service: service, url: url, timeout: .seconds(5))
            return readiness(part, service, try await client.send(.get, "/readyz"))
        } catch {
            return .fault(
                part, error, unreachable: "Is \(service) running there?", otherwise: "Correct \(part).")
        }
    }

    static func readiness(_ part: String, _ service: String, _ response: APIResponse) -> Finding {
        let readiness = Readiness(status: response.status, body: response.body)
        let down = readiness.down.map { name in
            "\(name.oneLine) is down" + (readiness.reasons[name].map { " (\($0.oneLine))" } ?? "")
        }.joined(separator: ", ")
        guard response.isSuccess else {
            return .failed(
                part, "\(service) is not ready: " + (down.isEmpty ? "it answers \(response.status)" : down),
                down.isEmpty
                    ? "Does \(part) name \(service)? Its log says more." : Self.remedy(readiness.down, accepts: false))
        }
        if readiness.down.isEmpty {
            let up = readiness.up.map(\.oneLine).joined(separator: ", ")
            let backlog = readiness.pending.map { ", \($0.grouped) in the outbox" } ?? ""
            return .ok(part, "\(service) is ready" + (up.isEmpty ? "" : " (\(up))") + backlog)
        }
        return .warning(
            part, "\(service) is ready, but \(down)", Self.remedy(readiness.down, accepts: service == "ingest"))
    }

    /// - Parameter accepts: whether it is ingest, and ready.
    private static func remedy(_ parts: [String], accepts: Bool) -> String {
        let advice = parts.map { part in
            switch part {
            case "amqp":
                "Check RabbitMQ at AMQP_URL."
                    + (accepts ? " Ingest accepts notifications meanwhile, and publishes them afterwards." : "")
            case "database": "Check the database of DATABASE_URL."
            case "payload_keys": "Put the line of each key back into PAYLOAD_KEYS_FILE, from your copy of the key ring."
            case "files": "Correct the file. The service keeps its last good content."
            default: "Check the part \(part.oneLine)."
            }
        }
        return advice.joined(separator: " ")
    }

    /// A finding if another service answers, or one of another version.
    private static func version(_ part: String, _ service: String, _ url: String) async -> Finding? {
        guard let client = try? APIClient(service: service, url: url, timeout: .seconds(5)),
            let response = try? await client.send(.get, "/version"), response.isSuccess
        else { return nil }
        let body = JSONValue(text: response.body)
        return Doctor.version(part, service, name: body?["Name"]?.text, version: body?["Version"]?.text)
    }

    static func version(_ part: String, _ service: String, name: String?, version: String?) -> Finding? {
        // Both have the page and the simulated devices.
        if let name, name != service, (service, name) != ("hub-emulator", "hub") {
            return .failed(part, "\(name) answers there instead of \(service)", "Correct \(part).")
        }
        guard let version, version != SecurePushVersion.current else { return nil }
        return .warning(
            part, "\(service) has version \(version), but this program has \(SecurePushVersion.current)",
            "Run the same version everywhere. The newer one migrates the database.")
    }
}
