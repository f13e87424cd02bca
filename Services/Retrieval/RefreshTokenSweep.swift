import Authentication
import Foundations
import Logging

/// Removes expired families of refresh tokens from the store, in every retrieval process.
struct RefreshTokenSweep: Sendable {
    let tokens: RefreshTokens
    let logger: Logger
    private let problem = LastingProblemLog(
        "Expired refresh tokens cannot be removed", end: "Expired refresh tokens are removed again")

    /// Rows per statement.
    private static let limit = 500
    static let interval = Duration.seconds(60)

    /// Removes everything that has expired. An expired token is refused in any case, so a failure can wait.
    func sweep(now: Timestamp = .now) async {
        do {
            while !Task.isCancelled, try await tokens.purge(limit: Self.limit, now: now) == Self.limit {}
            problem.succeeded(to: logger)
        } catch is CancellationError {
        } catch {
            problem.failed("\(error)", to: logger)
        }
    }
}
