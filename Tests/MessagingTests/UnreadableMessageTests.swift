import AMQP
import Domain
import Logging
import Messaging
import StackKit
import TestSupport
import Testing

/// Messages that somebody else put into the dispatch queue. Each must reach the dead-letter queue with a reason, and
/// none may cost more memory than its limit.
@Suite(.timeLimit(.minutes(5))) struct UnreadableMessageTests {
    private let id = NotificationID()

    private func message(_ stack: Stack, body: [UInt8]? = nil, headers: AMQPTable = AMQPTable()) -> AMQPMessage {
        AMQPMessage(
            exchange: stack.topology.exchange, routingKey: DispatchTopology.dispatchKey,
            body: body ?? Array(id.description.utf8), headers: headers)
    }

    private func publish(_ messages: [AMQPMessage], _ stack: Stack) async throws {
        for case .failure(let error) in try await publishRaw(messages, to: stack.configuration.amqp) {
            Issue.record("\(error)")
        }
    }

    @Test(arguments: [Int64.max, .min, 1001, 0, -1])
    func `An attempt out of range is dead-lettered`(_ attempt: Int64) async throws {
        try await withStack { stack in
            try await publish([message(stack, headers: ["attempt": .integer(attempt)])], stack)
            let delivery = try await stack.next()
            #expect(delivery.message == nil)
            stack.consumer.acknowledge([delivery])
            let dead = try await stack.dead()
            #expect(dead?.message.headers["reason"] == "unreadable: the attempt is not a number from 1 to 1000")
            #expect(dead?.message.body == Array(id.description.utf8))
        }
    }

    @Test(arguments: [1025, 300_000, 5_000_000])
    func `A body above the limit is dead-lettered unread`(_ count: Int) async throws {
        try await withStack { stack in
            try await publish([message(stack, body: [UInt8](repeating: 0x41, count: count))], stack)
            await stack.publish([DispatchMessage(id: id)])
            var seen: [DispatchMessage?] = []
            for _ in 0..<2 {
                let delivery = try await stack.next()
                seen.append(delivery.message)
                stack.consumer.acknowledge([delivery])
            }
            #expect(seen.first == .some(nil))
            #expect(seen.last??.id == id)
            let queue = try await deadLetters(stack)
            let letter = try #require(try await queue.next())
            #expect(letter.message == nil && letter.byteCount == count)
            #expect(letter.reason == "unreadable: the body has \(count) bytes; the limit is 1024")
            #expect(try await queue.next() == nil)
            await queue.close()
        }
    }

    @Test func `Headers above the limit are dead-lettered without them`() async throws {
        try await withStack { stack in
            // As many as fit a frame, the largest that a broker takes.
            let headers: AMQPTable = ["x": .string(String(repeating: "a", count: 130_500))]
            try await publish([message(stack, headers: headers)], stack)
            let delivery = try await stack.next()
            #expect(delivery.message == nil)
            stack.consumer.acknowledge([delivery])
            let dead = try await stack.dead()
            #expect(dead?.message.body == Array(id.description.utf8))
            #expect(dead?.message.headers["x"] == nil)
            let reason = dead?.message.headers["reason"]?.string
            #expect(reason?.hasPrefix("unreadable: the headers have 130") == true)
            #expect(reason?.hasSuffix("the limit is 8192") == true)
        }
    }

    /// Each level of a table takes six bytes, so that a frame holds more than twenty thousand of them.
    @Test func `Headers nested thousandfold are dead-lettered`() async throws {
        try await withStack { stack in
            var nested = AMQPTable()
            for _ in 0..<1500 { nested = ["": .table(nested)] }
            try await publish([message(stack, headers: nested)], stack)
            let delivery = try await stack.next()
            #expect(delivery.message == nil)
            stack.consumer.acknowledge([delivery])
            #expect(try await stack.dead()?.message.body == Array(id.description.utf8))
        }
    }

    /// Nothing is lost while no queue takes the dead letter: the message is given back until one does.
    @Test func `A dead letter that no queue takes comes back`() async throws {
        try await withStack(declares: false) { stack in
            let dead = AMQPTopology.Binding(queue: stack.topology.deadQueue, exchange: stack.topology.deadExchange)
            try await AMQPConnection.with(stack.configuration.amqp) { connection in
                try await connection.unbind(dead)
                try await publish([message(stack, body: Array("no ID".utf8))], stack)
                stack.consumer.acknowledge([try await stack.next()])
                let again = try await stack.next()
                #expect(again.message == nil && again.isRedelivered)
                try await connection.declare(AMQPTopology(bindings: [dead]))
                stack.consumer.acknowledge([again])
            }
            #expect(
                try await stack.dead()?.message.headers["reason"] == "unreadable: the body is not a notification ID")
        }
    }

    private func deadLetters(_ stack: Stack) async throws -> RabbitMQDeadLetterQueue {
        let queue = try await RabbitMQDeadLetterQueue.open(stack.configuration)
        #expect(try await eventually { try await queue.count() == 1 })
        return queue
    }
}
