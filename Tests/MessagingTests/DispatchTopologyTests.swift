import AMQP
import Foundations
import Messaging
import Testing

@Suite struct DispatchTopologyTests {
    private let topology = DispatchTopology(retryDelays: [.seconds(1), .milliseconds(500), .seconds(600), .seconds(1)])

    @Test func `Names are the contract's`() {
        #expect(topology.exchange == "securepush.notifications")
        #expect(topology.dispatchQueue == "securepush.dispatch")
        #expect(topology.deadExchange == "securepush.dead")
        #expect(topology.deadQueue == "securepush.dead")
    }

    @Test(arguments: [
        (Duration.seconds(1), "securepush.retry.1"), (.milliseconds(500), "securepush.retry.0.5"),
        (.milliseconds(1050), "securepush.retry.1.05"), (.seconds(600), "securepush.retry.600"),
        (.milliseconds(1), "securepush.retry.0.001"),
    ])
    func `Retry queues are named by seconds`(_ delay: Duration, _ name: String) {
        #expect(topology.retryQueue(delay: delay) == name)
    }

    @Test func `A queue for each delay once`() {
        let queues = topology.declarations.queues
        #expect(
            queues.map(\.name) == [
                "securepush.dead", "securepush.dispatch", "securepush.retry.0.5", "securepush.retry.1",
                "securepush.retry.600",
            ])
        #expect(queues.allSatisfy { $0.arguments["x-queue-type"] == "quorum" })
        #expect(queues[2].arguments["x-message-ttl"] == 500)
        #expect(queues[1].arguments["x-dead-letter-exchange"] == "securepush.dead")
        #expect(queues[1].arguments["x-delivery-limit"]?.integer ?? 0 >= 100)
    }

    @Test func `Unusable settings are refused`() {
        #expect(throws: SetupError.self) {
            try MessagingConfiguration(amqpURL: "http://h", retryDelays: [.seconds(1)], connectionName: "t")
        }
        #expect(throws: SetupError.self) {
            try MessagingConfiguration(amqpURL: "amqp://h", retryDelays: [], connectionName: "t")
        }
        #expect(throws: SetupError.self) {
            try MessagingConfiguration(
                amqpURL: "amqp://h", retryDelays: [.seconds(1)], prefetch: 0, connectionName: "t")
        }
    }

    /// RabbitMQ refuses the look-up of an exchange for which a user has no permission at all (4.2.7, 4.3.1).
    @Test func `A service that only consumes does not look for the exchange of new notifications`() {
        var topology = DispatchTopology(retryDelays: [.seconds(1)])
        topology.publishesNew = false
        #expect(topology.declarations.exchanges.map(\.name) == [topology.exchange, topology.deadExchange])
        topology.isDeclared = false
        #expect(topology.declarations.exchanges.map(\.name) == [topology.deadExchange])
        topology.publishesNew = true
        #expect(topology.declarations.exchanges.map(\.name) == [topology.exchange, topology.deadExchange])
    }
}
