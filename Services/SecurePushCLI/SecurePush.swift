import ArgumentParser
import ServiceRuntime

/// `securepush`: the operator's and developer's command line.
@main
struct SecurePush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "securepush",
        abstract: "Run the services, send secrets, simulate devices, and operate a SecurePush system.",
        discussion: """
            URLs and credentials come from flags or from INGEST_URL, INGEST_API_KEY, RETRIEVAL_URL and \
            RETRIEVAL_TOKEN. The database and the broker come from the services' own settings (DATABASE_URL, AMQP_URL, \
            ...). Data goes to standard output, messages to standard error. Exit codes: 0 done, 1 failed, 64 usage, 69 \
            unreachable, 78 configuration. --generate-completion-script bash, zsh or fish prints the completions of \
            that shell.

            EXAMPLES
              securepush send --to alice --payload "Your results are in."
              securepush device --user alice --platform apple --password-file alice.password
              securepush users add alice --users-file users
              securepush doctor
              securepush load-test --count 10000 --rate 500
            """,
        version: SecurePushVersion.line(of: "securepush"),
        subcommands: [
            SendCommand.self, StatusCommand.self, ListCommand.self, RevokeCommand.self, ResendCommand.self,
            InboxCommand.self, ReadCommand.self, DeviceCommand.self, TokenCommand.self, UsersCommand.self,
            APIKeysCommand.self, KeysCommand.self, InstallationsCommand.self, HubCommand.self, HubsCommand.self,
            DeadLettersCommand.self,
            MigrateCommand.self, ConfigCommand.self, AuditCommand.self,
            DoctorCommand.self, LoadTestCommand.self, TopCommand.self, TailCommand.self, SetupCommand.self,
            HubRecordCommand.self, VersionCommand.self, ServeCommand.self,
        ])
}
