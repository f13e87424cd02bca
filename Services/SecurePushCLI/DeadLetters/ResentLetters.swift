import Domain
import Messaging

/// The dead letters of notifications that a sender's command dispatches again, if the environment names the broker.
struct ResentLetters {
    private let queue: RabbitMQDeadLetterQueue
    private let held: HeldDeadLetters

    /// Holds them from before the notifications are dispatched.
    ///
    /// - Returns: `nil` without AMQP_URL, which a sender need not have; and with a warning if they cannot be read.
    static func hold(of ids: [String], _ console: Console) async -> ResentLetters? {
        guard Settings()["AMQP_URL"] != nil else { return nil }
        do {
            let queue = try await RabbitMQDeadLetterQueue.open(try Settings().messaging())
            do {
                let held = try await HeldDeadLetters(of: Set(ids.compactMap { NotificationID($0) }), in: queue)
                return ResentLetters(queue: queue, held: held)
            } catch {
                await queue.close()
                throw error
            }
        } catch {
            warn(error, console)
            return nil
        }
    }

    /// Removes those of the notifications that were dispatched again, and gives the others back.
    func end(resent: [String], _ console: Console) async {
        do {
            let count = try await held.remove(of: resent.compactMap { NotificationID($0) })
            if count > 0, !console.isJSON {
                console.message("\(count.grouped) dead letter\(count == 1 ? "" : "s") removed")
            }
        } catch {
            Self.warn(error, console)
        }
        await queue.close()
    }

    private static func warn(_ error: any Error, _ console: Console) {
        console.message("warning: dead letters stay in the queue. \(CommandFailure(describing: error).message)")
    }
}
