import Logging
import SecurePushCore
import ServiceLifecycle

/// What is to be done about devices beside requests, until shutdown.
struct DeviceUpkeep: Service {
    let reconciler: HubReconciler
    let search: NewHandleSearch

    init(changes: DeviceChanges, logger: Logger) {
        reconciler = HubReconciler(changes: changes, logger: logger)
        search = NewHandleSearch(changes: changes, logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await Self.repeating { await reconciler.sweep() } }
                group.addTask { await Self.repeating { await search.searchNext() } }
            }
        }
    }

    private static func repeating(_ body: () async -> Duration) async {
        while !Task.isCancelled {
            let pause = await body()
            // Throws when cancelled, which ends the loop.
            try? await Task.sleep(for: pause)
        }
    }
}
