import Foundation

/// The scripts of this repository, run as processes.
enum Script {
    /// Runs `scripts/postgres.sh`, whose output goes into the error when it fails.
    static func postgres(_ arguments: String...) async throws {
        try await run(TestEnvironment.packageRoot.appending(path: "scripts/postgres.sh").path, arguments)
    }
}
