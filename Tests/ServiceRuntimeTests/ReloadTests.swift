import Foundations
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing
import UnixSignals

@testable import ServiceRuntime

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Reloading on SIGHUP", .serialized)
struct ReloadTests {
    @Test func `Every part is reloaded although one fails`() async throws {
        let sink = LineSink()
        let context = ServiceContext.test(logger: sink.logger(level: .info))
        let reloaded = Mutex<[String]>([])
        context.onReload("first") { reloaded.withLock { $0.append("first") } }
        context.onReload("second") { throw SetupError(.malformed, "keys: permission denied") }
        context.onReload("third") { reloaded.withLock { $0.append("third") } }
        await context.reload()
        #expect(reloaded.withLock { $0 } == ["first", "third"])
        #expect(sink.lines.contains { $0.contains("A reload failed") && $0.contains("second") })
        #expect(sink.lines.contains { $0.contains("keys: permission denied") })
    }

    @Test func `A signal reloads and ends nothing`() async throws {
        signal(SIGUSR1, SIG_IGN)
        let context = ServiceContext.test()
        let (reloads, reload) = AsyncStream.makeStream(of: Void.self)
        context.onReload("part") { reload.yield() }
        let service = ReloadService(context: context, signals: [.sigusr1])
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await service.run() }
                // A signal that comes before the trap is set is lost: send until both are seen.
                tasks.addTask {
                    while !Task.isCancelled {
                        kill(getpid(), SIGUSR1)
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                var iterator = reloads.makeAsyncIterator()
                #expect(await iterator.next() != nil)
                #expect(await iterator.next() != nil)
                trigger.triggerGracefulShutdown()
                try await tasks.next()
                tasks.cancelAll()
            }
        }
    }
}
