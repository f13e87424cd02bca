import Foundations
import HTTPTypes
import Logging
import ServiceLifecycle
import Storage

/// Delivers scheduled sends when they are due, each at its own pace, and removes expired installations.
struct ScheduleService: Service {
    let schedules: ScheduleTable
    let sends: SendProcessor
    let logger: Logger
    private let problem = LastingProblemLog(
        "Scheduled notifications wait for the database", end: "Scheduled notifications no longer wait for the database")

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { deliveries in
                while !Task.isCancelled {
                    do {
                        for send in try await schedules.takeDue(now: .now) {
                            deliveries.addTask { await deliver(send) }
                        }
                        problem.succeeded(to: logger)
                        try await schedules.removeExpiredInstallations()
                        try await schedules.waitUntilNextIsDue()
                    } catch is CancellationError {
                    } catch {
                        problem.failed(ErrorText.describe(error), to: logger)
                        try? await Task.sleep(for: .seconds(1))
                    }
                }
            }
        }
    }

    /// Delivers a send that was taken. When the task is cancelled, it ends after the current page of devices, and
    /// another process continues with the next page.
    func deliver(_ send: ScheduledSend) async {
        do {
            await schedules.end(send, as: try await sends.deliver(send) ? .delivered : .lost)
        } catch is CancellationError {
            await schedules.end(send, as: .stopped)
        } catch let error as HubError where error.status.kind == .clientError {
            // It was checked when it was accepted. So the stored form has been changed, or is of another version.
            await schedules.end(send, as: .unreadable)
        } catch {
            problem.failed(ErrorText.describe(error), to: logger)
            await schedules.end(send, as: .failed)
        }
    }
}
