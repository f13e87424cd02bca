import Hummingbird
import NIOCore
import ServiceLifecycle

/// Runs tasks on the event loops that the connections live on.
///
/// By default every request goes from its connection's event loop to a thread of Swift's pool and back, two thread
/// switches that cost more than the emulator's own work. `any()` gives the loop of the calling thread when there is
/// one, so a request is handled where it was read. Nothing here blocks: the state file has a queue of its own.
final class EventLoopExecutor: TaskExecutor {
    private let group: any EventLoopGroup

    init(group: any EventLoopGroup) {
        self.group = group
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        group.any().execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// A service whose tasks run on the event loops: its own and, as a preference is inherited, those of its connections.
struct EventLoopService: Service {
    let service: any Service

    func run() async throws {
        let executor = EventLoopExecutor(group: EventLoopGroupProvider.singleton.eventLoopGroup)
        try await withTaskExecutorPreference(executor) { try await service.run() }
    }
}
