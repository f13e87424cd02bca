import Foundation

/// The work of a notification service extension (`UNNotificationServiceExtension`).
///
/// Keep one handler per process. The system may call ``didReceive(_:completion:)`` again while it runs; each call has
/// its own completion, which is called exactly once: with the secret, or when the time is up with the generic text.
///
/// It is unchecked because the lock guards all that changes.
public final class NotificationServiceHandler: @unchecked Sendable {
    private let client: SecurePushClient
    private let lock = NSLock()
    private var work: Work = [:]

    /// Makes a handler.
    public init(client: SecurePushClient) {
        self.client = client
    }

    /// Fetches the secret of a push.
    ///
    /// - Parameters:
    ///   - push: the push: `IncomingPush(userInfo: request.content.userInfo)`. If it is not ``IncomingPush/isSecurePush``, it
    ///     belongs to another part of the app: deliver its content unchanged instead of calling this.
    ///   - completion: called exactly once, on any thread, at most ``ClientLimits/secondsInTotal`` later.
    public func didReceive(_ push: IncomingPush, completion: @escaping @Sendable (ServiceContent) -> Void) {
        let delivery = ContentDelivery(of: client.genericContent(push.id, .timedOut), to: completion)
        let (key, client) = (UUID(), client)
        // Known before its task runs, so that the task finds it when it ends.
        change { $0[key] = (delivery, nil) }
        let task = Task {
            let timer = Task {
                guard (try? await client.waitForEndOfWake()) != nil else { return }
                delivery.complete()
            }
            await client.serve(push, by: delivery)
            timer.cancel()
            // The system gets its answer in every case.
            delivery.complete()
            change { $0[key] = nil }
        }
        let isInFlight = change { work in
            work[key]?.task = task
            return work[key] != nil
        }
        // It has ended, or the time was up before the handler had its task.
        if !isInFlight { task.cancel() }
    }

    /// Completes everything that is in flight, with the best content so far. Call it from
    /// `serviceExtensionTimeWillExpire()`.
    public func timeWillExpire() {
        let work = change { work in
            defer { work = [:] }
            return work
        }
        for (delivery, task) in work.values {
            delivery.complete()
            task?.cancel()
        }
    }

    private typealias Work = [UUID: (delivery: ContentDelivery, task: Task<Void, Never>?)]

    @discardableResult
    private func change<Result>(_ body: (inout Work) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&work)
    }
}
