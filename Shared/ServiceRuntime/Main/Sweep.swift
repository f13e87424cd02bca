import ServiceLifecycle

/// Work that a service repeats until a graceful shutdown, which it does not delay.
package struct Sweep: Service {
    private let firstPause: Duration
    private let clock: any Clock<Duration>
    private let work: @Sendable () async -> Duration

    /// - Parameter work: begins at once; returns the pause before the next time.
    package init(_ work: @escaping @Sendable () async -> Duration) {
        self.init(firstPause: .zero, clock: ContinuousClock(), work)
    }

    /// Work at an interval that varies, so that processes that were started together do not work at the same time.
    ///
    /// - Parameter clock: measures the pauses; a test's clock does not wait.
    package init(
        every interval: Duration, clock: any Clock<Duration> = ContinuousClock(),
        _ work: @escaping @Sendable () async -> Void
    ) {
        self.init(firstPause: interval * Double.random(in: 0...1), clock: clock) {
            await work()
            return interval * Double.random(in: 0.9...1.1)
        }
    }

    private init(
        firstPause: Duration, clock: any Clock<Duration>, _ work: @escaping @Sendable () async -> Duration
    ) {
        (self.firstPause, self.clock, self.work) = (firstPause, clock, work)
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var pause = firstPause
            while (try? await clock.sleep(for: pause)) != nil, !Task.isCancelled { pause = await work() }
        }
    }
}
