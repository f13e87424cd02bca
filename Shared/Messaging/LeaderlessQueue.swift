public import AMQP

/// What helps with a quorum queue that has no leader.
public enum LeaderlessQueue {
    /// The command that gives a queue a leader, and what else there is. Restarting the node changes nothing.
    public static func remedy(_ queue: String, _ configuration: AMQPConfiguration) -> String {
        // The virtual host, as it is written in the endpoint of every node; Raft names begin with it.
        let virtualHost = configuration.endpoints.split(separator: "/").last.map(String.init) ?? "%2F"
        let election = "ra:trigger_election({'\(virtualHost)_\(queue)', node()})."
        return "start the cluster's nodes that are down; else, on the node: rabbitmqctl eval \"\(election)\" "
            + "(rabbitmq-server issue 10070; a private node: scripts/rabbitmq.sh heal DIR)"
    }
}
