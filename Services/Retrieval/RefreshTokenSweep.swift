import Authentication
import Logging
import SecurePushCore
import ServiceLifecycle

/// Removes expired families of refresh tokens from the store, in every retrieval process.
struct RefreshTokenSweep: Service {
    let tokens: RefreshTokens
    let logger: Logger
    private let problem = LastingProblemLog(
        "Expired refresh tokens cannot be removed", end: "Expired refresh tokens are removed again")

    /// Rows per statement.
    private static let limit = 500
    private static let interval = Duration.seconds(60)

    init(tokens: RefreshTokens, logger: Logger) {
        self.tokens = tokens
        self.logger = logger
    }

    /// Runs until a graceful shutdown, which it does not delay.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Random, so that processes that were started together do not sweep at the same time.
            var wait = Self.interval * Double.random(in: 0...1)
            while (try? await Task.sleep(for: wait)) != nil {
                await sweep()
                wait = Self.interval * Double.random(in: 0.9...1.1)
            }
        }
    }

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
