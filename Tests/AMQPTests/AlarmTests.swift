import AMQP
import StackKit
import TestSupport
import Testing

extension OwnBrokerTests {
    @Suite struct AlarmTests {
        @Test func `A broker with an alarm takes nothing until it is over`() async throws {
            try await withRabbitMQServer { server in
                let configuration = try brokerConfiguration(server.url)
                let topology = AMQPTopology(queues: [.init("alarmed", arguments: ["x-queue-type": "quorum"])])
                try await withPublisher(configuration, topology, timeout: .seconds(30)) { publisher in
                    #expect(await codes(publisher, messages(0..<1, to: "alarmed")).isEmpty)
                    try await server.control("set_vm_memory_high_watermark", "0")
                    // The broker tells a connection of the alarm when it publishes (connection.blocked).
                    let refused = await codes(publisher, messages(1..<3, to: "alarmed"))
                    #expect(refused == [.blocked, .blocked])
                    #expect(!publisher.isConnected)
                    #expect(await codes(publisher, messages(3..<4, to: "alarmed")) == [.blocked])
                    try await server.control("set_vm_memory_high_watermark", "0.4")
                    let isOver = try await eventually { publisher.isConnected }
                    #expect(isOver)
                    #expect(await codes(publisher, messages(4..<5, to: "alarmed")).isEmpty)
                }
            }
        }
    }
}
