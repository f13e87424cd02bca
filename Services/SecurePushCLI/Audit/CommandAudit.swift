import ArgumentParser
import Foundation
import Foundations
import ServiceConfiguration
import ServiceRuntime

/// A command that changes keys, credentials or the system itself, and so writes a line to the audit log.
protocol AuditedCommand: ConsoleCommand {
    /// The action, for example `user.add`, and the name that it is about, if there is one.
    typealias Audited = (action: String, id: String?)

    /// `nil` for a run that changes nothing, or that a service writes a line for.
    var audited: Audited? { get }
}

/// The audit log of commands: `AUDIT_LOG` as the services read it.
enum CommandAudit {
    private static let name = ConfigurationKeys.auditLog.name

    /// Runs a command, and writes its lines if it is an ``AuditedCommand`` and `AUDIT_LOG` is set: one before it does
    /// anything, because it may be killed, and one with the result. With `-` the lines go to standard error, because
    /// standard output has the data of the command.
    ///
    /// - Throws: ``CommandFailure`` with code `configuration` if a line cannot be written; all errors of `body`.
    static func writing(_ command: any ConsoleCommand, _ body: () async throws -> Void) async throws {
        guard let audited = (command as? any AuditedCommand)?.audited,
            let path = Settings()[name]
        else { return try await body() }
        if path == "-", StandardDescriptors.lacksError {
            throw CommandFailure(
                .configuration,
                "\(name) is -, but standard error is closed. Nothing was done.")
        }
        let file = try CommandFailure.naming(name) {
            try path == "-" ? AuditFile.standardError() : AuditFile(path: path)
        }
        let line = { (result: AuditEntry.Result) in
            AuditEntry(
                service: "securepush", actor: "local:\(NSUserName())", action: audited.action, id: audited.id,
                result: result)
        }
        try CommandFailure.naming(name) { try file.append([line(.begun)]) }
        let failure: (any Error)?
        do {
            try await body()
            failure = nil
        } catch {
            failure = error
        }
        do {
            try file.append([line(failure == nil ? .ok : .failed)])
        } catch {
            throw withoutLine(failure, error)
        }
        if let failure { throw failure }
    }

    /// The error of a command whose result could not be written.
    private static func withoutLine(_ failure: (any Error)?, _ error: FileError) -> any Error {
        let problem = "\(name): \(error)"
        switch failure {
        case nil:
            return CommandFailure(
                .configuration, "The command has done its work, but its result is not in the audit log.",
                details: [problem])
        case let exit as ExitCode:
            return exit
        case let failure?:
            var described = CommandFailure(describing: failure)
            described.details.append("This result is not in the audit log. \(problem)")
            return described
        }
    }
}
