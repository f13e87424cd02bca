import Domain
import Foundations
import Logging
import ServiceRuntime
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("The log while the store is away", .timeLimit(.minutes(5)))
struct OutageLogTests {
    @Test func `An outage is one line and not one for every look`() async throws {
        let lines = Mutex<[String]>([])
        let logger = Logger(label: "test") { label in
            JSONLogHandler(label: label, service: "ingest", logLevel: .trace) { bytes in
                lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            }
        }
        let outbox = AwayOutbox()
        var timing = OutboxTiming.quick
        timing.sweepInterval = .milliseconds(5)
        let relay = OutboxRelay(
            outbox: outbox, publisher: FakePublisher(), probe: FakeQueueProbe(), timing: timing, logger: logger)
        try await withRelays([relay]) { try await expectEventually { outbox.looks >= 20 } }
        let warnings = lines.withLock { lines in lines.filter { $0.contains("outbox") } }
        #expect(warnings.count == 1, "\(warnings)")
        #expect(warnings.first?.contains("away for the test") ?? false)
    }
}

/// An outbox whose store is away.
private final class AwayOutbox: ForwardingStore {
    let base: any Store = AwayStore()
    private let count = Mutex(0)

    /// How often it was asked for what is due.
    var looks: Int { count.withLock { $0 } }

    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        count.withLock { $0 += 1 }
        return try await base.lease(limit: limit, now: now, until: until)
    }
}
