import AMQP
import StackKit
import TestSupport
import Testing

private let name = "leaderless"
private let topology = AMQPTopology(queues: [.init(name, arguments: ["x-queue-type": "quorum"])])

extension RabbitMQServer {
    /// Keeps a queue's Raft process from answering, as one without a leader does; or lets it go on.
    func hold(_ queue: String, _ isHeld: Bool) async throws {
        let call = isHeld ? "suspend" : "resume"
        try await control("eval", "sys:\(call)(whereis('%2F_\(queue)')).")
    }
}

extension OwnBrokerTests {
    /// What rabbitmq-server issue 10070 looks like from outside: all is declared, and nothing gets through.
    @Suite struct LeaderlessQueueTests {
        @Test func `A queue without a leader is told from one that is empty`() async throws {
            try await withRabbitMQServer { server in
                var configuration = try brokerConfiguration(server.url)
                try await AMQPConnection.with(configuration) { try await $0.declare(topology) }
                try await withPublisher(configuration, topology) { publisher in
                    #expect(await codes(publisher, messages(0..<2, to: name)).isEmpty)
                }
                // Looking takes nothing away, and counts no delivery.
                try await AMQPConnection.with(configuration) { connection in
                    for _ in 0..<3 { try await connection.expectLeader(of: name) }
                    let first = try #require(try await connection.get(queue: name))
                    #expect(!first.isRedelivered)
                    try await connection.requeue(first)
                    let isBack = try await eventually { try await connection.inspect(queue: name).messages == 2 }
                    #expect(isBack)
                }

                configuration.replyTimeout = .seconds(1)
                try await server.hold(name, true)
                try await AMQPConnection.with(configuration) { connection in
                    // The broker says that it is there and empty.
                    let status = try await connection.inspect(queue: name)
                    #expect(status.messages == 0)
                    let error = await #expect(throws: AMQPError.self) { try await connection.expectLeader(of: name) }
                    #expect(error?.code == .queueUnavailable)
                }
                let consumer = try AMQPConsumer(
                    configuration: configuration, topology: topology, queue: name, prefetch: 10, logger: quiet)
                try await running(consumer) {
                    let isTold = try await eventually { consumer.problem?.contains("issue 10070") == true }
                    #expect(isTold, "\(consumer.problem ?? "none")")
                    #expect(!consumer.isConnected)
                    try await server.hold(name, false)
                    let taken = try await take(2, from: consumer)
                    #expect(Set(taken.map(text)) == ["0", "1"])
                    #expect(consumer.problem == nil)
                }
            }
        }

        /// The window of a publisher is counted from the oldest message in flight: one queue that does not confirm
        /// would shut it for all others.
        @Test func `A queue that does not confirm holds up no other`() async throws {
            let both = AMQPTopology(queues: [.init(name, arguments: ["x-queue-type": "quorum"]), .init("other")])
            try await withRabbitMQServer { server in
                let configuration = try brokerConfiguration(server.url)
                try await AMQPConnection.with(configuration) { try await $0.declare(both) }
                try await server.hold(name, true)
                try await withPublisher(configuration, both, timeout: .seconds(1), inFlightLimit: 8) { publisher in
                    #expect(await codes(publisher, messages(0..<1, to: name)) == [.timeout])
                    for number in 0..<30 {
                        let isPublished = try await eventually {
                            await codes(publisher, messages(number..<number + 1, to: "other")).isEmpty
                        }
                        try #require(isPublished, "message \(number)")
                    }
                }
            }
        }
    }
}
