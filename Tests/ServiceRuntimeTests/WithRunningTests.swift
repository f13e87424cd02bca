import ServiceLifecycle
import ServiceRuntime
import Synchronization
import Testing

@Suite("Running services beside a closure", .timeLimit(.minutes(5)))
struct WithRunningTests {
    /// Writes down when it starts and how it stops.
    private final class Part: Service {
        struct Broken: Error {}

        let events = Mutex<[String]>([])
        let fails: Bool
        private let started: AsyncStream<Void>.Continuation
        let hasStarted: AsyncStream<Void>

        init(fails: Bool = false) {
            self.fails = fails
            (hasStarted, started) = AsyncStream.makeStream(of: Void.self)
        }

        func run() async throws {
            note("start")
            started.yield()
            if fails { throw Broken() }
            do {
                try await gracefulShutdown()
                note("stop")
            } catch {
                note("cancelled")
            }
        }

        private func note(_ event: String) { events.withLock { $0.append(event) } }
    }

    private struct Refused: Error {}

    @Test func `The service shuts down gracefully after the closure`() async throws {
        let part = Part()
        let value = try await withRunning(part) {
            for await _ in part.hasStarted { break }
            return 7
        }
        #expect(value == 7)
        #expect(part.events.withLock { $0 } == ["start", "stop"])
    }

    @Test func `The closure's error ends the services gracefully, too`() async {
        let (first, second) = (Part(), Part())
        await #expect(throws: Refused.self) {
            try await withRunning(first, second) {
                for await _ in first.hasStarted { break }
                for await _ in second.hasStarted { break }
                throw Refused()
            }
        }
        #expect(first.events.withLock { $0 } == ["start", "stop"])
        #expect(second.events.withLock { $0 } == ["start", "stop"])
    }

    @Test func `A service that fails cancels the closure`() async {
        await #expect(throws: Part.Broken.self) {
            try await withRunning(Part(fails: true)) { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    @Test func `Cancelling the caller cancels both`() async throws {
        let part = Part()
        let task = Task { try await withRunning(part) { try await Task.sleep(for: .seconds(3600)) } }
        for await _ in part.hasStarted { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(part.events.withLock { $0 } == ["start", "cancelled"])
    }
}
