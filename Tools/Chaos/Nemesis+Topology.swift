import AMQP
import ChaosChecker
import Messaging
import StackKit

extension Nemesis {
    /// Removes the dispatch queue's binding, or the retry queues. The services have to notice and to declare them
    /// again.
    func breakTopology(_ fault: FaultPlan.Fault) async throws {
        let topology = DispatchTopology(retryDelays: stack.options.retryDurations)
        let queues = Set(topology.retryDelays).map { topology.retryQueue(delay: $0) }
        let configuration = try AMQPConfiguration(url: stack.broker.url, connectionName: "chaos")
        try await AMQPConnection.with(configuration) { connection in
            switch fault.action {
            case .unbind:
                for binding in topology.declarations.bindings where binding.queue == topology.dispatchQueue {
                    try await connection.unbind(binding)
                }
            default:
                for queue in queues { try await connection.delete(queue: queue) }
            }
        }
        guard fault.action == .remove else { return }
        let begin = ContinuousClock.now
        while !Task.isCancelled {
            if await exist(queues, configuration) { return }
            guard begin.duration(to: .now) < .seconds(60) else {
                throw Stack.NotStarted(description: "the retry queues did not come back within a minute")
            }
            await pause(.milliseconds(200))
        }
    }

    private func exist(_ queues: [String], _ configuration: AMQPConfiguration) async -> Bool {
        let found: Void? = try? await AMQPConnection.with(configuration) { connection in
            for queue in queues { _ = try await connection.inspect(queue: queue) }
        }
        return found != nil
    }
}

extension ChaosOptions {
    /// ``retryDelays`` as times. The services check the text.
    fileprivate var retryDurations: [Duration] {
        retryDelays.split(separator: ",").compactMap { text in
            if text.hasSuffix("ms") { return Int(text.dropLast(2)).map { .milliseconds($0) } }
            guard let number = Int(text.dropLast()) else { return nil }
            return .seconds(number * (text.hasSuffix("m") ? 60 : text.hasSuffix("h") ? 3600 : 1))
        }
    }
}
