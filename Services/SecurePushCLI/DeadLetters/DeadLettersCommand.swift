import ArgumentParser

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Look at what was given up, send it after all, or drop it.",
        discussion: """
            Works on the dead-letter queue (AMQP_URL) and the database (DATABASE_URL) of the services. What is looked at
            stays where it is; for as long as a look takes, another one finds the queue empty. Exit codes:
            0 done, 1 something could not be done, 64 usage, 69 broker or database unreachable, 78 configuration.

            EXAMPLES
              securepush dead-letters list --reason throttled
              securepush dead-letters show 01890a5d-ac96-774b-bcce-b302099a8057
              securepush dead-letters replay --all
              securepush dead-letters purge --yes
            """,
        subcommands: [List.self, Show.self, Replay.self, Purge.self])
}
