import ArgumentParser
import Foundation
import ServiceConfiguration

/// Checks the names of the variables before a command reads them.
enum SettingNames {
    /// Warns of variables that begin with `SECUREPUSH_` and are no setting.
    ///
    /// - Throws: ``CommandFailure`` with code `configuration` if `NAME` and `SECUREPUSH_NAME` have different values, or
    ///   a value has a control character inside, or quotation marks around it.
    ///   `config show` reports these itself.
    static func check(for command: any ConsoleCommand, _ console: Console) throws {
        let environment = SettingsEnvironment(ProcessInfo.processInfo.environment)
        if !console.isJSON {
            for issue in environment.unknown() { console.message("warning: \(issue.problem.printable)") }
        }
        if command is ConfigCommand.Show { return }
        let conflicts = environment.conflicts(of: SettingsEnvironment.shared)
        guard conflicts.isEmpty else {
            throw CommandFailure(.configuration, "Some settings are ambiguous.", details: conflicts.map(\.problem))
        }
        let unusable = environment.pasteProblems(of: SettingsEnvironment.shared)
        guard unusable.isEmpty else {
            throw CommandFailure(
                .configuration, "Some settings were not copied as they are.", details: unusable.map(\.description))
        }
    }
}
