import AMQP
import Domain
import Foundation
import Foundations
import Logging
import Messaging
import StackKit
import TestSupport
import Testing

private let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// Queues of the test's own, with dead letters.
private func withLetters(
    _ letters: [(message: DispatchMessage, reason: String)], _ body: (MessagingConfiguration) async throws -> Void
) async throws {
    let configuration = try MessagingConfiguration(
        amqpURL: try TestEnvironment.amqpURL, retryDelays: [.milliseconds(100)], connectionName: "test",
        prefix: "test-\(UUID().uuidString)")
    let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: quiet)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await publisher.run() }
        let isConnected = try await eventually { publisher.isConnected }
        #expect(isConnected)
        for letter in letters {
            await publishConfirmed([letter.message], to: .dead(reason: letter.reason), by: publisher)
        }
        group.cancelAll()
    }
    try await body(configuration)
    try await AMQPConnection.with(configuration.amqp) { connection in
        for queue in configuration.topology.declarations.queues { try await connection.delete(queue: queue.name) }
        for exchange in configuration.topology.declarations.exchanges {
            try await connection.delete(exchange: exchange.name)
        }
    }
}

private func sampleLetters(_ count: Int) -> [(message: DispatchMessage, reason: String)] {
    (0..<count).map { index in
        let trace = TraceContext.random().traceparent
        let message = DispatchMessage(
            id: NotificationID(), platforms: [.apple], attempt: index + 1, traceparent: trace)
        return (message, "reason \(index)")
    }
}

/// Opens the queue once all its letters are ready: those of the connection before come back soon after its end.
private func open(_ configuration: MessagingConfiguration, count: Int) async throws -> RabbitMQDeadLetterQueue {
    let queue = try await RabbitMQDeadLetterQueue.open(configuration)
    #expect(try await eventually { try await queue.count() == count })
    return queue
}

private func all(_ queue: RabbitMQDeadLetterQueue) async throws -> [DeadLetter] {
    var letters: [DeadLetter] = []
    while let letter = try await queue.next() { letters.append(letter) }
    return letters
}

@Suite(.timeLimit(.minutes(5))) struct DeadLetterQueueTests {
    @Test func `Letters tell what is owed and why`() async throws {
        let sent = sampleLetters(2)
        try await withLetters(sent) { configuration in
            let queue = try await open(configuration, count: 2)
            let letters = try await all(queue)
            #expect(letters.map(\.message) == sent.map(\.message))
            #expect(letters.map(\.reason) == ["reason 0", "reason 1"])
            #expect(letters.map(\.byteCount) == [36, 36])
            await queue.close()
        }
    }

    /// Fifty looks: more than RabbitMQ 4 would grant a queue that sets no limit of its own.
    @Test func `Looking loses nothing`() async throws {
        let sent = sampleLetters(20)
        try await withLetters(sent) { configuration in
            for look in 0..<50 {
                let queue = try await open(configuration, count: 20)
                for _ in 0..<(look % 21) { _ = try await queue.next() }
                await queue.close()
            }
            let queue = try await open(configuration, count: 20)
            let seen = try await all(queue).map(\.message)
            #expect(seen.count == 20 && Set(seen) == Set(sent.map(\.message)))
            await queue.close()
        }
    }

    @Test func `What is removed is gone and the rest stays`() async throws {
        let sent = sampleLetters(6)
        try await withLetters(sent) { configuration in
            let queue = try await open(configuration, count: 6)
            let letters = try await all(queue)
            for letter in [letters[4], letters[1]] { try await queue.remove(letter) }
            // A second time is no fault of the channel's.
            try await queue.remove(letters[1])
            await queue.close()
            let again = try await open(configuration, count: 4)
            let left = try await all(again).map(\.message)
            #expect(left.count == 4 && Set(left) == Set([0, 2, 3, 5].map { sent[$0].message }))
            await again.close()
        }
    }

    @Test func `A broken connection loses nothing`() async throws {
        let sent = sampleLetters(3)
        try await withLetters(sent) { configuration in
            do {
                // Goes away without a goodbye.
                let queue = try await RabbitMQDeadLetterQueue.open(configuration)
                #expect(try await all(queue).count == 3)
            }
            let queue = try await open(configuration, count: 3)
            #expect(try await all(queue).map(\.message) == sent.map(\.message))
            await queue.close()
        }
    }

    @Test func `Purging tells how many there were`() async throws {
        try await withLetters(sampleLetters(3)) { configuration in
            let queue = try await open(configuration, count: 3)
            #expect(try await queue.purge() == 3)
            #expect(try await queue.next() == nil)
            await queue.close()
        }
    }

    @Test func `A queue that nobody declared is named`() async throws {
        let configuration = try MessagingConfiguration(
            amqpURL: try TestEnvironment.amqpURL, retryDelays: [.seconds(1)], connectionName: "test",
            prefix: "test-\(UUID().uuidString)")
        let error = await #expect(throws: AMQPError.self) {
            _ = try await RabbitMQDeadLetterQueue.open(configuration)
        }
        #expect(error?.code == .notFound)
    }

    @Test func `What the broker gave up says so`() async throws {
        try await withLetters([]) { configuration in
            let topology = configuration.topology
            // One that is too old when it comes, and one whose body is no ID.
            let expired = AMQPMessage(
                exchange: topology.exchange, routingKey: DispatchTopology.dispatchKey,
                body: Array(NotificationID().description.utf8), expiration: 1)
            let poison = AMQPMessage(exchange: topology.deadExchange, routingKey: "", body: Array("poison".utf8))
            try await publishRaw([expired], to: configuration.amqp)
            let queue = try await open(configuration, count: 1)
            let letter = try #require(try await queue.next())
            #expect(letter.reason == "dead-lettered by the broker: expired")
            #expect(letter.message != nil && letter.message?.platforms == nil)
            try await publishRaw([poison], to: configuration.amqp)
            let unreadable = try #require(try await queue.next())
            #expect(unreadable.message == nil && unreadable.byteCount == 6)
            #expect(unreadable.reason == "no reason given")
            await queue.close()
        }
    }
}
