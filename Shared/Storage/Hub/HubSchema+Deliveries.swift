extension HubSchema {
    /// The tables of deliveries: pushes that are tried again, results of messages, and dead devices.
    ///
    /// A lane is a hub and a platform. While a process pushes a row of `hub_pushes`, `due_at` is the time at which
    /// another process may push it, and `claim` identifies the process. The outcomes of a message are text: `apple
    /// Success 2`, a line for each platform and outcome. While a lane has a row in `hub_suspensions`, no process
    /// removes its devices for a wrong address.
    static let deliveries: [SQL] = [
        """
        CREATE TABLE hub_pushes (
            id \(.identifier) PRIMARY KEY NOT NULL,
            lane \(.text) NOT NULL,
            message_id \(.text) NOT NULL,
            due_at \(.integer) NOT NULL,
            claim \(.integer),
            attempt \(.integer) NOT NULL,
            give_up_at \(.integer) NOT NULL,
            request \(.bytes) NOT NULL,
            body \(.bytes) NOT NULL
        ) \(.table)
        """,
        "CREATE INDEX hub_pushes_due ON hub_pushes (lane, due_at)",
        "CREATE INDEX hub_pushes_end ON hub_pushes (give_up_at)",
        """
        CREATE TABLE hub_messages (
            id \(.text) PRIMARY KEY NOT NULL,
            hub \(.text) NOT NULL,
            state \(.text) NOT NULL,
            enqueued_at \(.integer) NOT NULL,
            completed_at \(.integer),
            tags \(.text),
            outcomes \(.text) NOT NULL,
            body \(.bytes) NOT NULL,
            purge_at \(.integer) NOT NULL
        ) \(.table)
        """,
        "CREATE INDEX hub_messages_purge ON hub_messages (purge_at)",
        """
        CREATE TABLE hub_feedback (
            sequence \(.counter),
            hub \(.text) NOT NULL,
            noted_at \(.integer) NOT NULL,
            error \(.text) NOT NULL,
            platform \(.text) NOT NULL,
            handle \(.text) NOT NULL,
            registration_id \(.text),
            installation_id \(.text),
            message_id \(.text) NOT NULL
        ) \(.table)
        """,
        "CREATE INDEX hub_feedback_hub ON hub_feedback (hub, sequence)",
        "CREATE INDEX hub_feedback_noted ON hub_feedback (noted_at)",
        """
        CREATE TABLE hub_suspensions (
            lane \(.text) PRIMARY KEY NOT NULL,
            since \(.integer) NOT NULL
        ) \(.keyed)
        """,
    ]
}

extension SQLWord {
    /// 16 bytes, as a ``NotificationID`` has.
    static let identifier = SQLWord(postgres: "uuid", sqlite: "BLOB")
}
