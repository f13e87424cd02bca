import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import StackKit
import Synchronization
import Testing
import UnixSignals

@testable import ServiceRuntime

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Life of the services", .serialized)
struct ServiceGroupTests {
    /// Writes down when it starts and stops.
    private struct Part: Service {
        let name: String
        let events: AsyncStream<String>.Continuation
        var failsAfterStart = false

        struct Broken: Error {}

        func run() async throws {
            events.yield("start \(name)")
            if failsAfterStart { throw Broken() }
            try? await gracefulShutdown()
            events.yield("stop \(name)")
        }
    }

    @Test func `Services stop in reverse order`() async throws {
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        let services = ["store", "relay", "http"].map { Part(name: $0, events: events) }
        let group = ServiceBootstrap.group(of: services, context: .test())
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = stream.makeAsyncIterator()
            var started: Set<String?> = []
            for _ in services { started.insert(await iterator.next()) }
            #expect(started == ["start store", "start relay", "start http"])
            await group.triggerGracefulShutdown()
            #expect(await iterator.next() == "stop http")
            #expect(await iterator.next() == "stop relay")
            #expect(await iterator.next() == "stop store")
            try await tasks.waitForAll()
        }
    }

    @Test func `A failure drains the others`() async throws {
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        let services = [
            Part(name: "store", events: events), Part(name: "http", events: events, failsAfterStart: true),
        ]
        await #expect(throws: Part.Broken.self) {
            try await ServiceBootstrap.group(of: services, context: .test()).run()
        }
        events.finish()
        let all = await stream.reduce(into: []) { $0.append($1) }
        #expect(Set(all) == ["start store", "start http", "stop store"])
    }

    /// Hears nothing of a graceful shutdown, only of its cancellation.
    private struct Deaf: Service {
        func run() async throws { try await Task.sleep(for: .seconds(3600)) }
    }

    /// A service that does not drain is cancelled, in time for the group to end within the 10 s of the contract.
    @Test func `A service that does not drain is cancelled`() async throws {
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        let services: [any Service] = [Part(name: "store", events: events), Deaf()]
        let group = ServiceBootstrap.group(of: services, context: .test())
        let hasEndedInTime = await withTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                // Ending by cancellation may throw; what counts is that it ends.
                try? await group.run()
                return true
            }
            #expect(await stream.first { _ in true } == "start store")
            await group.triggerGracefulShutdown()
            tasks.addTask {
                try? await Task.sleep(for: patience)
                return false
            }
            defer { tasks.cancelAll() }
            return await tasks.next() ?? false
        }
        #expect(hasEndedInTime)
    }

    /// Hears neither of a graceful shutdown nor of its cancellation: a call of a library, say.
    private struct Stuck: Service {
        let release: AsyncStream<Void>
        func run() async throws {
            await Task { [release] in for await _ in release { return } }.value
        }
    }

    /// Before, `ServiceGroup` ended the process by a trap here.
    @Test(arguments: [true, false])
    func `A service that nothing stops is left behind`(fails: Bool) async throws {
        let (stream, events) = AsyncStream.makeStream(of: String.self)
        let (release, released) = AsyncStream.makeStream(of: Void.self)
        let ends = Mutex<[String]>([])
        let limit = ShutdownLimit(.milliseconds(200)) { error in
            ends.withLock { $0.append(error.map { "\(type(of: $0))" } ?? "signal") }
            // In a test the process goes on.
            released.finish()
        }
        let services: [any Service] = [
            Stuck(release: release), Part(name: "http", events: events, failsAfterStart: fails),
        ]
        let group = ServiceBootstrap.group(of: services, context: .test(), limit: limit)
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await group.run() }
            #expect(await stream.first { _ in true } == "start http")
            if !fails { await group.triggerGracefulShutdown() }
        }
        #expect(ends.withLock { $0 } == [fails ? "Broken" : "signal"])
    }

    @Test func `A second signal quits`() async throws {
        // Before the service sets its trap, which this would take away.
        signal(SIGUSR2, SIG_IGN)
        let (quits, quit) = AsyncStream.makeStream(of: UnixSignal.self)
        let service = SecondSignalService(signals: [.sigusr2]) { quit.yield($0) }
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await service.run() }
                // A signal that comes before the trap is set is lost: send until the second one is seen.
                tasks.addTask {
                    while !Task.isCancelled {
                        kill(getpid(), SIGUSR2)
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                let first = await quits.first { _ in true }
                #expect(first == .sigusr2)
                trigger.triggerGracefulShutdown()
                try await tasks.next()
                tasks.cancelAll()
            }
        }
    }
}
