import ArgumentParser
import Foundation
import ServiceConfiguration

/// Checks the names of the variables before a command reads them.
enum SettingNames {
    /// Warns of variables that begin with `SECUREPUSH_` and are no setting.
    ///
    /// - Throws: ``CommandFailure`` with code `configuration` if `NAME` and `SECUREPUSH_NAME` have different values.
    ///   `config show` reports these itself.
    static func check(for command: any ConsoleCommand, _ console: Console) throws {
        let environment = SettingsEnvironment(ProcessInfo.processInfo.environment)
        if !console.isJSON {
            for issue in environment.unknown() { console.message("warning: \(issue.problem.printable)") }
        }
        let conflicts = environment.conflicts(of: SettingsEnvironment.shared)
        guard conflicts.isEmpty || command is ConfigCommand.Show else {
            throw CommandFailure(.configuration, "Some settings are ambiguous.", details: conflicts.map(\.problem))
        }
    }
}
