import AMQP
import Domain
import Messaging
import StackKit
import TestSupport
import Testing

@Suite("Readings of the queues", .timeLimit(.minutes(5))) struct QueueReadingsTests {
    @Test func `Every queue is read once for all who ask`() async throws {
        try await withStack { stack in
            let readings = RabbitMQInspector(configuration: stack.configuration)
            let message = DispatchMessage(id: NotificationID(), platforms: [.apple])
            await stack.publish([message, message], to: .dead(reason: "test"))
            try await expectEventually {
                let queues = try await readings.queues()
                return queues.last?.messages == 2 && queues.first?.consumers == 1
            }
            let all = try await withThrowingTaskGroup(of: [QueueReading].self) { group in
                for _ in 0..<20 { group.addTask { try await readings.queues() } }
                return try await group.reduce(into: [[QueueReading]]()) { $0.append($1) }
            }
            #expect(all.count == 20)
            for queues in all {
                #expect(queues.map(\.purpose) == [.dispatch, .retry, .dead])
                #expect(queues.map(\.consumers) == [1, 0, 0] && queues.allSatisfy { $0.problem == nil })
            }
        }
    }

    /// The others are read all the same, on the same connection.
    @Test func `A queue that is missing has a problem`() async throws {
        try await withStack(declares: false) { stack in
            let retry = stack.topology.retryQueue(delay: .milliseconds(100))
            try await AMQPConnection.with(stack.configuration.amqp) { try await $0.delete(queue: retry) }
            let queues = try await RabbitMQInspector(configuration: stack.configuration).queues()
            #expect(queues.map(\.name) == [stack.topology.dispatchQueue, retry, stack.topology.deadQueue])
            #expect(queues.map { $0.problem != nil } == [false, true, false])
            #expect(queues[1].messages == nil && queues[2].messages == 0)
        }
    }

    @Test func `An absent broker is an error`() async throws {
        let configuration = try MessagingConfiguration(
            amqpURL: "amqp://guest:s3cr3t@127.0.0.1:1", retryDelays: [.seconds(1)], connectionName: "test",
            prefix: "test")
        let readings = RabbitMQInspector(configuration: configuration)
        let error = await #expect(throws: AMQPError.self) { try await readings.queues() }
        #expect(error?.description.contains("s3cr3t") == false)
    }
}
