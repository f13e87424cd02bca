/// Measures all queues of the broker, for an operator.
package protocol QueueReadings: Sendable {
    /// The queues in the order in which a message passes them.
    ///
    /// - Throws: an error whose description names no credential, if the broker cannot be asked.
    func queues() async throws -> [QueueReading]
}

package struct QueueReading: Sendable, Hashable {
    package enum Purpose: String, Sendable, CaseIterable {
        /// Dispatchers consume it.
        case dispatch
        /// Messages wait in it for their next attempt.
        case retry
        case dead
    }

    /// The name in the broker.
    package var name: String
    package var purpose: Purpose
    /// The number of messages that are ready; `nil` if the broker does not tell.
    package var messages: Int?
    /// The number of consumers; `nil` if the broker does not tell.
    package var consumers: Int?
    /// Why the broker does not tell, for an operator.
    package var problem: String?

    package init(name: String, purpose: Purpose, messages: Int? = nil, consumers: Int? = nil, problem: String? = nil) {
        self.name = name
        self.purpose = purpose
        self.messages = messages
        self.consumers = consumers
        self.problem = problem
    }
}
