import Logging
import SecurePushCore
import ServiceLifecycle
import ServiceRuntime
import Storage

extension Doctor {
    /// Checks that the services are ready and have the version of this program.
    func services() async -> [Finding] {
        var findings: [Finding] = []
        for (part, service) in [
            ("INGEST_URL", "ingest"), ("RETRIEVAL_URL", "retrieval"), ("HUB_EMULATOR_URL", "hub-emulator"),
        ] {
            guard let url = settings[part] else { continue }
            let readiness = await Doctor.readiness(part, service, url)
            findings.append(readiness)
            if readiness.state != .unreachable, let mismatch = await Doctor.version(part, service, url) {
                findings.append(mismatch)
            }
        }
        return findings
    }

    private static func readiness(_ part: String, _ service: String, _ url: String) async -> Finding {
        do {
            let client = try APIClient(service: service, url: url, timeout: .seconds(5))
            let response = try await client.send(.get, "/readyz")
            if response.isSuccess { return .ok(part, "\(service) is ready: \(response.body.droppingLineEnd)") }
            return .faulty(
                part, "\(service) is not ready (\(response.status)): \(response.body.droppingLineEnd)",
                "The response names the part that fails. Check that part.")
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = "Is \(service) running there?"
            return failure.code == .unreachable
                ? .unreachable(part, failure.message, advice) : .faulty(part, failure.message, "Correct \(part).")
        }
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
        if let name, name != service {
            return .faulty(part, "\(name) answers there instead of \(service)", "Correct \(part).")
        }
        guard let version, version != SecurePushVersion.current else { return nil }
        return .faulty(
            part, "\(service) has version \(version), but this program has \(SecurePushVersion.current)",
            "Run the same version everywhere. The newer one migrates the database.")
    }
}

extension Doctor {
    /// Checks that the database answers and has the schema of this program.
    func database() async -> [Finding] {
        let part = "DATABASE_URL"
        guard let url = settings[part] else { return [] }
        if let path = StoreSession.missingFile(url) {
            return [.faulty(part, "there is no database at \(path)", "Run `securepush migrate`, or start a service.")]
        }
        do {
            let configuration = try StorageConfiguration(url: url)
            try await StoreSession.with(url) { _ in }
            return [.ok(part, "\(configuration) answers and has the current schema")]
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = failure.hint ?? "Correct DATABASE_URL."
            return failure.code == .unreachable
                ? [.unreachable(part, failure.message, advice)] : [.faulty(part, failure.message, advice)]
        }
    }
}
