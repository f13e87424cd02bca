import AMQP
import ChaosChecker
import Messaging
import SecurePushCore

/// Puts what is in the dead-letter queue into the history.
enum LetterReader {
    static func read(_ stack: Stack, history: HistoryWriter) async throws {
        let configuration = try MessagingConfiguration(
            amqpURL: stack.broker.url, retryDelays: RetryDelays.standard.delays, connectionName: "chaos")
        let queue: RabbitMQDeadLetterQueue
        do { queue = try await RabbitMQDeadLetterQueue.open(configuration) } catch {
            // Nobody has had anything to do with it.
            if error.code == .notFound { return }
            throw error
        }
        do {
            while let letter = try await queue.next() {
                history.write(
                    .letter(
                        .init(
                            id: letter.message?.id.description,
                            platforms: (letter.message?.platforms ?? []).map(\.rawValue), reason: letter.reason)))
            }
        } catch {
            await queue.close()
            throw error
        }
        await queue.close()
    }
}
