import AMQP
import StackKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SeveralNodesTests {
    /// Port 1 refuses; the address of the second URL (RFC 5737) does not answer at all.
    @Test(arguments: ["127.0.0.1:1", "192.0.2.1:5672"])
    func `An unreachable node is passed over`(_ dead: String) async throws {
        let url = "amqp://\(dead)?connection_timeout=500,amqp://127.0.0.1:\(try brokerPort())"
        // The order is random: ten times without the dead one first is one in a thousand.
        for _ in 0..<10 {
            try await AMQPConnection.with(try brokerConfiguration(url)) { connection in
                #expect(await connection.isOpen)
            }
        }
    }

    @Test func `A publisher comes back on another node`() async throws {
        let proxies = [try TCPProxy(to: try brokerPort()), try TCPProxy(to: try brokerPort())]
        defer { for proxy in proxies { proxy.close() } }
        let addresses = proxies.map { "amqp://127.0.0.1:\($0.port)" }.joined(separator: ",")
        try await withQueue { queue, topology in
            try await withPublisher(try brokerConfiguration(addresses), topology) { publisher in
                proxies[0].close()
                let isPublished = try await eventually { await codes(publisher, messages(0..<1, to: queue)).isEmpty }
                #expect(isPublished)
            }
        }
    }
}
