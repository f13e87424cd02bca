package import NIOCore
import NIOPosix

/// Runs tasks on the event loop of a connection. So a request that waits for a database and for another server wakes no
/// further threads in between.
///
/// What blocks, or computes for more than a millisecond, belongs elsewhere.
package final class EventLoopTaskExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    /// Those of all loops that serve connections. They live as long as the process.
    private static let all: [(loop: ObjectIdentifier, executor: EventLoopTaskExecutor)] =
        MultiThreadedEventLoopGroup.singleton.makeIterator().map {
            (ObjectIdentifier($0), EventLoopTaskExecutor($0))
        }

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// `nil` for a loop of another group.
    package static func of(_ eventLoop: any EventLoop) -> EventLoopTaskExecutor? {
        all.first { $0.loop == ObjectIdentifier(eventLoop) }?.executor
    }

    /// That of the task that asks, if it runs on one.
    package static var current: EventLoopTaskExecutor? {
        withUnsafeCurrentTask { task in
            guard let preference = task?.unownedTaskExecutor else { return nil }
            return all.first { $0.executor.asUnownedTaskExecutor() == preference }?.executor
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
