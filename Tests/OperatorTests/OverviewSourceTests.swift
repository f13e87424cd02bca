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
        let configuration = OperatorConfiguration(
            http: HTTPConfiguration(port: 0), passwordFile: nil, allowedHosts: [], dispatchers: [], retrievals: [])
        let context = ServiceContext(name: "ingest", logger: .silent, metrics: PrometheusMetrics())
        return OverviewSource(
            store: store, queues: FakeQueues(), backlog: { nil }, table: ProcessTable(), configuration: configuration,
            service: context)
    }

    @Test func `Many pages read the failures once`() async throws {
        let store = CountingStore()
        let (source, directory) = (makeSource(store), OperatorDirectory(store: store, platforms: [.apple]))
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { #expect(await source.failures(.hour, in: directory)?.groups.isEmpty == true) }
            }
        }
        #expect(store.asked.withLock { $0 } < 5)
    }

    @Test func `A page does not wait for a silent store`() async throws {
        let store = CountingStore(isSilent: true)
        let failures = await makeSource(store).failures(.hour, in: OperatorDirectory(store: store, platforms: [.apple]))
        #expect(failures == nil)
    }
}
