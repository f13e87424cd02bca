import ArgumentParser
import Foundation
import ServiceRuntime

/// `securepush`: the operator's and developer's command line.
@main
struct SecurePush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "securepush",
        abstract: "Send secrets, simulate devices, and operate a SecurePush system.",
        discussion: """
            URLs and credentials come from flags or from INGEST_URL, INGEST_API_KEY, RETRIEVAL_URL and RETRIEVAL_TOKEN.
            The database and the broker come from the services' own settings (DATABASE_URL, AMQP_URL, ...). Data goes to
            standard output, messages to standard error. Exit codes: 0 done, 1 failed, 64 usage, 69 unreachable, 78
            configuration.

            EXAMPLES
              securepush send --to alice --payload "Your results are in."
              securepush device --user alice --platform apple --password-file alice.password
              securepush users add alice --users-file users
              securepush doctor
              securepush load-test --count 10000 --rate 500
            """,
        version: SecurePushVersion.current,
        subcommands: [
            SendCommand.self, StatusCommand.self, ListCommand.self, RevokeCommand.self, ResendCommand.self,
            InboxCommand.self, ReadCommand.self, DeviceCommand.self, TokenCommand.self, UsersCommand.self,
            APIKeysCommand.self,
            KeysCommand.self,
            InstallationsCommand.self, DeadLettersCommand.self, MigrateCommand.self, ConfigCommand.self,
            DoctorCommand.self, LoadTestCommand.self, TopCommand.self, TailCommand.self, SetupCommand.self,
            HubRecordCommand.self,
        ])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(showing: error, arguments)
        }
    }

    /// Shows what the argument parser has to say in the form of the other messages, and exits.
    private static func exit(showing error: any Error, _ arguments: [String]) -> Never {
        let code = exitCode(for: error)
        let text = fullMessage(for: error, columns: HelpText.unwrapped)
        if code == .success {
            // Other texts are the version, completion scripts and the like, for programs.
            let isHelp = text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ")
            print(isHelp ? HelpText.wrap(text, to: Terminal.proseColumns(of: STDOUT_FILENO)) : text)
        } else if !(error is ExitCode) {
            let isUsage = code.rawValue == CommandFailure.Code.usage.rawValue
            let failure = isUsage ? CommandLineFailure.describe(error, arguments) : CommandFailure(describing: error)
            Console(arguments: arguments).report(failure)
        }
        Foundation.exit(code.rawValue)
    }
}
