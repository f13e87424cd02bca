import AMQP
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PublisherTests {
    @Test func `Thousands are confirmed and arrive as they were`() async throws {
        let configuration = try brokerConfiguration()
        try await withQueue { queue, topology in
            try await withPublisher(configuration, topology) { publisher in
                await withTaskGroup(of: Int.self) { group in
                    for start in stride(from: 0, to: 5000, by: 100) {
                        let batch = messages(start..<start + 100, to: queue)
                        group.addTask { failures(await publisher.publish(batch)).count }
                    }
                    for await count in group { #expect(count == 0) }
                }
            }
            try await withConsumer(configuration, topology, queue: queue) { consumer in
                let taken = try await take(5000, from: consumer)
                #expect(Set(taken.map(text)) == Set((0..<5000).map(String.init)))
                #expect(taken.allSatisfy { $0.message.messageID == text($0) && $0.message.isPersistent })
            }
            #expect(try await TestSupportQueue.isEmpty(queue))
        }
    }

    @Test func `Properties travel`() async throws {
        let configuration = try brokerConfiguration()
        try await withQueue { queue, topology in
            let message = AMQPMessage(
                exchange: "", routingKey: queue, body: Array("é".utf8), contentType: "text/plain", messageID: "id",
                isPersistent: true, expiration: 60_000,
                headers: [
                    "text": "ü", "number": 7, "flag": true, "list": .array(["a", 1]), "nested": .table(["x": 1]),
                ])
            try await withPublisher(configuration, topology) { publisher in
                #expect(await codes(publisher, [message]).isEmpty)
            }
            let delivery = try await AMQPConnection.with(configuration) { try await $0.get(queue: queue) }
            // The broker sorts the headers, and adds its own.
            for header in message.headers.entries { #expect(delivery?.message.headers[header.key] == header.value) }
            var received = try #require(delivery?.message)
            received.headers = message.headers
            #expect(received == message)
        }
    }

    @Test func `An unroutable message fails alone`() async throws {
        let configuration = try brokerConfiguration()
        try await withQueue { queue, topology in
            try await withPublisher(configuration, topology) { publisher in
                let batch = messages(0..<1, to: queue) + messages(1..<3, to: "nowhere") + messages(3..<4, to: queue)
                let results = await publisher.publish(batch)
                #expect(results.map { failures([$0]).first?.code } == [nil, .returned, .returned, nil])
            }
        }
    }

    /// A queue of other arguments is there, and another one is missing: the publishes to the first one go on.
    @Test func `A refused declaration does not end the connection`() async throws {
        let configuration = try brokerConfiguration()
        try await withQueue(arguments: [:]) { queue, topology in
            try await withPublisher(configuration, topology) { publisher in
                let other = AMQPTopology(queues: [.init(queue, arguments: ["x-max-length": 5])])
                try await AMQPConnection.with(configuration) { connection in
                    try await connection.delete(queue: queue)
                    try await connection.declare(other)
                }
                #expect(await codes(publisher, messages(0..<1, to: "nowhere")) == [.returned])
                #expect(await codes(publisher, messages(1..<3, to: queue)).isEmpty)
                #expect(publisher.isConnected && publisher.unroutable != nil)
            }
        }
    }

    @Test func `What the broker refuses fails`() async throws {
        let arguments: AMQPTable = ["x-max-length": 2, "x-overflow": "reject-publish"]
        try await withQueue(arguments: arguments) { queue, topology in
            try await withPublisher(try brokerConfiguration(), topology) { publisher in
                let results = await publisher.publish(messages(0..<10, to: queue))
                #expect(failures(results).allSatisfy { $0.code == .nacked })
                #expect(failures(results).count == 8)
            }
        }
    }

    @Test func `A message may be larger than a frame`() async throws {
        let configuration = try brokerConfiguration()
        try await withQueue { queue, topology in
            let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
            let message = AMQPMessage(exchange: "", routingKey: queue, body: body)
            try await withPublisher(configuration, topology) { publisher in
                #expect(await codes(publisher, [message]).isEmpty)
            }
            try await withConsumer(configuration, topology, queue: queue) { consumer in
                let taken = try await take(1, from: consumer)
                #expect(taken.first?.message.body == body)
            }
        }
    }

    @Test func `More than fits in flight waits its turn`() async throws {
        try await withQueue { queue, topology in
            try await withPublisher(try brokerConfiguration(), topology, inFlightLimit: 16) { publisher in
                #expect(await codes(publisher, messages(0..<1000, to: queue)).isEmpty)
            }
        }
    }

    @Test func `Without a connection it fails at once`() async throws {
        let publisher = try AMQPPublisher(configuration: brokerConfiguration("amqp://127.0.0.1:1"), logger: quiet)
        #expect(!publisher.isConnected)
        #expect(await codes(publisher, messages(0..<2, to: "q")) == [.notConnected, .notConnected])
    }
}

enum TestSupportQueue {
    static func isEmpty(_ name: String) async throws -> Bool { try await queue(name, comesToHold: 0) }
}
