import NIOCore

/// Runs tasks on an event loop. They must not block it.
///
/// A task there that uses the channels of the loop wakes no thread, and the loop takes all that the task has submitted
/// at once.
///
/// Decision: docs/decisions/0020-a-c-connection-is-an-actor-on-its-thread.md
final class EventLoopTaskExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
