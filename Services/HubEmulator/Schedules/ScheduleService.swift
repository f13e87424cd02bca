import ServiceLifecycle

/// Sends what was scheduled when its time has come.
struct ScheduleService: Service {
    let schedules: ScheduleBook
    let intake: NotificationIntake

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                for send in schedules.takeDue(now: .now) { intake.deliver(send) }
                await schedules.waitForNext()
            }
        }
    }
}
