import Logging
import SecurePushCore
import ServiceLifecycle
import ServiceRuntime
import Storage

extension Doctor {
    /// The services say that they are ready, and are of this program's version.
    func services() async -> [Finding] {
        var findings: [Finding] = []
        for (part, service) in [
            ("INGEST_URL", "ingest"), ("RETRIEVAL_URL", "retrieval"), ("HUB_EMULATOR_URL", "hub-emulator"),
        ] {
            guard let url = settings[part] else { continue }
            let readiness = await Doctor.readiness(part, service, url)
            findings.append(readiness)
            // What does not answer has no version to tell.
            if readiness.state != .unreachable, let mismatch = await Doctor.version(part, service, url) {
                findings.append(mismatch)
            }
        }
        return findings
    }

    private static func readiness(_ part: String, _ service: String, _ url: String) async -> Finding {
        do {
            let client = try APIClient(service: service, url: url, timeout: .seconds(5))
            let answer = try await client.send(.get, "/readyz")
            if answer.isSuccess { return .ok(part, "\(service) is ready: \(answer.body.droppingLineEnd)") }
            return .faulty(
                part, "\(service) is not ready (\(answer.status)): \(answer.body.droppingLineEnd)",
                "The answer names the part that fails; look at that one.")
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = "Is \(service) running there?"
            return failure.code == .unreachable
                ? .unreachable(part, failure.message, advice) : .faulty(part, failure.message, "Correct \(part).")
        }
    }

    /// A finding where the service is another one, or of another version than this program.
    private static func version(_ part: String, _ service: String, _ url: String) async -> Finding? {
        guard let client = try? APIClient(service: service, url: url, timeout: .seconds(5)),
            let answer = try? await client.send(.get, "/version"), answer.isSuccess
        else { return nil }
        let name = JSONText.member("Name", of: answer.body).flatMap(JSONText.string)
        let version = JSONText.member("Version", of: answer.body).flatMap(JSONText.string)
        return Doctor.version(part, service, name: name, version: version)
    }

    static func version(_ part: String, _ service: String, name: String?, version: String?) -> Finding? {
        if let name, name != service {
            return .faulty(part, "\(name) answers there, and not \(service)", "Correct \(part).")
        }
        guard let version, version != SecurePushVersion.current else { return nil }
        return .faulty(
            part, "\(service) is of version \(version), and this program of \(SecurePushVersion.current)",
            "Run the same version everywhere; the newer one migrates the database.")
    }
}

extension Doctor {
    /// The database answers, and its schema is this program's.
    func database() async -> [Finding] {
        let part = "DATABASE_URL"
        guard let url = settings[part] else { return [] }
        if let path = Doctor.missingFile(url) {
            return [.faulty(part, "there is no database at \(path)", "Run `securepush migrate`, or start a service.")]
        }
        do {
            let configuration = try StorageConfiguration(url: url, migrations: .check)
            let opened = try await openStore(
                configuration, logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
            try await Doctor.ping(opened)
            return [.ok(part, "\(configuration) answers, and its schema is up to date")]
        } catch {
            let failure = CommandFailure(describing: error)
            let advice = failure.hint ?? "Correct DATABASE_URL."
            return failure.code == .unreachable
                ? [.unreachable(part, failure.message, advice)] : [.faulty(part, failure.message, advice)]
        }
    }

    /// Runs the store's service for as long as it takes to get one answer.
    private static func ping(_ opened: OpenedStore) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await opened.service.run()
                return false
            }
            group.addTask {
                let end = ContinuousClock.now + .seconds(5)
                while true {
                    do {
                        try await opened.store.ping(timeout: .seconds(2))
                        return true
                    } catch let error as StorageError where error.isRetriable && ContinuousClock.now < end {
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
            }
            defer { group.cancelAll() }
            while let answered = try await group.next() { if answered { return } }
        }
    }

    /// Opening a SQLite database would make it; the doctor changes nothing.
    private static func missingFile(_ url: String) -> String? {
        guard url.hasPrefix("sqlite:") else { return nil }
        let path = String(url.dropFirst("sqlite:".count))
        return SecretFile.exists(path) ? nil : path
    }
}
