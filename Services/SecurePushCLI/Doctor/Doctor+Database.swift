import Logging
import SecurePushCore
import ServiceLifecycle
import Storage

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
