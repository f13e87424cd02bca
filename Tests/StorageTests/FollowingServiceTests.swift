import Domain
import ServiceLifecycle
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite struct FollowingServiceTests {
    /// A store that is away until it is opened.
    private final class Gate: ForwardingStore {
        let base = memoryStore()
        let isOpen = Mutex(false)
        let calls = Mutex(0)

        func check(_ function: String) throws {
            calls.withLock { $0 += 1 }
            if !isOpen.withLock({ $0 }) { throw StorageError(.unavailable, "away for the test") }
        }
    }

    private final class Probe: Service {
        let hasBegun = Mutex(false)

        func run() async throws { hasBegun.withLock { $0 = true } }
    }

    @Test(.timeLimit(.minutes(2))) func `A sweep begins when the store serves for the first time`() async throws {
        let (gate, probe) = (Gate(), Probe())
        let service = OpenedStore(gate, service: IdleService(), kind: .memory).following(probe)
        let running = Task { try await service.run() }
        try await expectEventually { gate.calls.withLock { $0 } > 2 }
        #expect(!probe.hasBegun.withLock { $0 })
        gate.isOpen.withLock { $0 = true }
        try await running.value
        #expect(probe.hasBegun.withLock { $0 })
    }
}
