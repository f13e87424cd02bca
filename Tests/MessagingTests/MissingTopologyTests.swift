import AMQP
import Domain
import Logging
import Messaging
import StackKit
import Testing

/// Exchanges, queues and bindings that are removed while the services run. One at a time: each has a dozen quorum
/// queues, and a node that makes many at once nacks what comes to them.
@Suite("What is removed from the broker", .serialized, .timeLimit(.minutes(15)))
struct MissingTopologyTests {
    enum Fault: CaseIterable, CustomTestStringConvertible {
        case dispatchBinding, exchange, dispatchQueue, retryQueue, deadBinding, deadQueue, deadExchange

        var testDescription: String { "\(self)" }

        /// A message that the fault concerns.
        var route: DispatchRoute {
            switch self {
            case .dispatchBinding, .exchange, .dispatchQueue: .dispatch
            case .retryQueue: .retry(delay: 0)
            case .deadBinding, .deadQueue, .deadExchange: .dead(reason: "test")
            }
        }

        func happen(_ topology: DispatchTopology, _ connection: AMQPConnection) async throws {
            let bindings = topology.declarations.bindings
            switch self {
            case .dispatchBinding: try await connection.unbind(bindings[1])
            case .exchange: try await connection.delete(exchange: topology.exchange)
            case .dispatchQueue: try await connection.delete(queue: topology.dispatchQueue)
            case .retryQueue:
                try await connection.delete(queue: topology.retryQueue(delay: topology.retryDelays[0]))
            case .deadBinding: try await connection.unbind(bindings[0])
            case .deadQueue: try await connection.delete(queue: topology.deadQueue)
            case .deadExchange: try await connection.delete(exchange: topology.deadExchange)
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `It is declared again as soon as a message is returned`(_ fault: Fault) async throws {
        try await withStack { stack in
            for _ in 0..<2 {
                try await AMQPConnection.with(stack.configuration.amqp) { connection in
                    try await fault.happen(stack.topology, connection)
                }
                // RabbitMQ 3.10 forgets a quorum queue only after its answer. One that is declared within the same
                // moment can come up without a leader and confirms nothing, see QueueLeaderWatch.
                try await Task.sleep(for: .seconds(1))
                let message = DispatchMessage(id: NotificationID())
                let isTaken = try await eventually(every: .milliseconds(100)) {
                    let result = await stack.publisher.publish([message], to: fault.route)[0]
                    return (try? result.get()) != nil
                }
                #expect(isTaken)
                if case .dead = fault.route {
                    #expect(try await stack.dead()?.message.messageID == message.id.description)
                } else {
                    let delivery = try await stack.next()
                    #expect(delivery.message?.id == message.id)
                    stack.consumer.acknowledge([delivery])
                }
                let isWell = try await eventually { stack.publisher.problem == nil }
                #expect(isWell, "\(stack.publisher.problem ?? "")")
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `It is declared again although nobody publishes`(_ fault: Fault) async throws {
        try await withStack { stack in
            try await AMQPConnection.with(stack.configuration.amqp) { connection in
                try await fault.happen(stack.topology, connection)
                // A publisher that declares nothing.
                let raw = try AMQPPublisher(configuration: stack.configuration.amqp, logger: .quiet)
                let bindings = stack.topology.declarations.bindings
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await raw.run() }
                    let isBack = try await eventually(every: .milliseconds(500)) {
                        guard (try? await connection.inspect(queue: stack.topology.deadQueue)) != nil,
                            (try? await connection.inspect(queue: stack.topology.dispatchQueue)) != nil,
                            (try? await connection.inspect(queue: stack.topology.retryQueue(delay: .milliseconds(100))))
                                != nil
                        else { return false }
                        let probes = bindings.map {
                            AMQPMessage(exchange: $0.exchange, routingKey: $0.key, body: Array("probe".utf8))
                        }
                        return await raw.publish(probes).allSatisfy { (try? $0.get()) != nil }
                    }
                    #expect(isBack)
                    group.cancelAll()
                }
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func `Where nothing may be declared, the problem names the binding or the queue`(_ fault: Fault) async throws {
        try await withStack { stack in
            var configuration = stack.configuration
            configuration.topology.isDeclared = false
            let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: .quiet)
            let own = Task { await publisher.run() }
            defer { own.cancel() }
            #expect(try await eventually { publisher.isConnected && publisher.problem == nil })
            let name =
                switch fault {
                case .dispatchBinding: "\(stack.topology.dispatchQueue) is missing or not bound"
                case .exchange: stack.topology.exchange
                case .dispatchQueue: stack.topology.dispatchQueue
                case .retryQueue: stack.topology.retryQueue(delay: .milliseconds(100))
                case .deadBinding: "\(stack.topology.deadQueue) is missing or not bound"
                case .deadQueue: stack.topology.deadQueue
                case .deadExchange: stack.topology.deadExchange
                }
            // The stack's own services declare it again, so the moment may be too short for a message. It comes again.
            let isNamed = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await eventually(every: .milliseconds(1)) {
                        let message = DispatchMessage(id: NotificationID())
                        _ = await publisher.publish([message], to: fault.route)
                        return publisher.problem?.contains(name) == true
                    }
                }
                group.addTask { [amqp = configuration.amqp, topology = stack.topology] in
                    try await AMQPConnection.with(amqp) { connection in
                        while !Task.isCancelled {
                            try await fault.happen(topology, connection)
                            try await Task.sleep(for: .seconds(5))
                        }
                    }
                    return false
                }
                defer { group.cancelAll() }
                return try await group.next() ?? false
            }
            #expect(isNamed, "\(publisher.problem ?? "none")")
        }
    }

    @Test(arguments: [true, false])
    func `A poison message whose dead letter no queue takes does not circle`(_ isBindingGone: Bool) async throws {
        try await withStack { stack in
            try await AMQPConnection.with(stack.configuration.amqp) { connection in
                let fault = isBindingGone ? Fault.deadBinding : .deadQueue
                try await fault.happen(stack.topology, connection)
                let poison = AMQPMessage(
                    exchange: stack.topology.exchange, routingKey: DispatchTopology.dispatchKey,
                    body: Array("poison".utf8))
                try await publishRaw([poison], to: stack.configuration.amqp)
                // Each delivery is acknowledged at once, as a dispatcher does.
                let start = ContinuousClock.now
                let counting = Task {
                    var times: [ContinuousClock.Instant] = []
                    while let delivery = await stack.consumer.next(limit: 1)?.first {
                        times.append(.now)
                        stack.consumer.acknowledge([delivery])
                    }
                    return times
                }
                #expect(try await stack.deadEventually().map { String(decoding: $0.body, as: UTF8.self) } == "poison")
                let seconds = start.duration(to: .now) / .seconds(1)
                counting.cancel()
                let times = await counting.value
                #expect(Double(times.count) <= 2 + seconds / 1.9, "\(times.count) in \(seconds) s")
            }
        }
    }
}

extension Stack {
    /// The next dead letter, once its queue exists again.
    fileprivate func deadEventually() async throws -> AMQPMessage? {
        try await AMQPConnection.with(configuration.amqp) { connection in
            var message: AMQPMessage?
            _ = try await eventually(every: .milliseconds(200)) {
                guard let delivery = try? await connection.get(queue: topology.deadQueue) else { return false }
                message = delivery.message
                try await connection.acknowledge(delivery)
                return true
            }
            return message
        }
    }
}

extension Logger {
    fileprivate static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
}
