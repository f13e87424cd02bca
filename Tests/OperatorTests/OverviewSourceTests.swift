import Domain
import ServiceRuntime
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Operator

@Suite("What the overview costs the store", .timeLimit(.minutes(5)))
struct OverviewSourceTests {
    /// Counts the questions, and does not answer them if it is told so.
    private final class CountingStore: ForwardingStore {
        let base = memoryStore()
        let asked = Mutex(0)
        let isSilent: Bool

        init(isSilent: Bool = false) { self.isSilent = isSilent }

        func page(_ query: OperatorQuery) async throws -> OperatorPage {
            asked.withLock { $0 += 1 }
            if isSilent { try await Task.sleep(for: .seconds(600)) }
            return OperatorPage(entries: [], next: nil)
        }
    }

    private func makeSource(_ store: CountingStore) -> OverviewSource {
        let context = ServiceContext(name: "operator", logger: .silent, metrics: PrometheusMetrics())
        return OverviewSource(
            directory: OperatorDirectory(store: store, platforms: [.apple]),
            backlog: { _ in OutboxBacklog(count: 0, oldest: nil) }, queues: FakeQueues(), table: ProcessTable(),
            targets: [:], service: context)
    }

    @Test func `Many pages ask the store once`() async throws {
        let store = CountingStore()
        let source = makeSource(store)
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { #expect(await source.overview(.hour).failures?.groups.isEmpty == true) }
            }
        }
        #expect(store.asked.withLock { $0 } < 5)
    }

    @Test func `A page does not wait for a silent store`() async throws {
        let overview = await makeSource(CountingStore(isSilent: true)).overview(.hour)
        #expect(overview.failures == nil && overview.funnel == nil && !overview.queues.isEmpty)
        #expect(overview.state == .bad && overview.troubles.first?.kind == .source)
    }
}
