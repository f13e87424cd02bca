import Domain
import Foundations
import Logging
import ServiceConfiguration
import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Runs a service until it ends: configuration, signals, exit codes.
package enum ServiceMain {
    /// Exit codes, after `sysexits.h`.
    enum ExitCode {
        static let success: Int32 = 0
        static let failure: Int32 = 1
        static let configuration: Int32 = 78
    }

    /// Reads the configuration, builds the service and runs it until SIGTERM or SIGINT.
    ///
    /// - An invalid configuration exits 78, with one line per issue on standard error.
    /// - SIGTERM and SIGINT drain: the services stop in reverse order within 8 s. Then they are cancelled and have one
    ///   more second. The exit code is 0. A second signal quits at once.
    /// - SIGHUP reloads the parts that registered with ``ServiceContext/onReload(_:_:)``.
    /// - If a service fails, the others drain, and the exit code is 1.
    /// - A log that nobody reads delays a failure by 5 s at most, and the end after a signal by less than a second.
    ///
    /// - Parameter flags: values from the command line, by key name (`HTTP_PORT`). They win over the environment.
    package static func serve<Program: ServiceProgram>(_ program: Program.Type, flags: [String: String]) async -> Never
    {
        ProcessTuning.ignoreSignals()
        let settings: ServiceSettings<Program.Configuration>
        do {
            settings = try program.settings(flags: flags, environment: ProcessInfo.processInfo.environment)
        } catch {
            quit(reporting: error)
        }
        ProcessTuning.apply()
        let (context, exporter) = ServiceBootstrap.bootstrap(
            name: program.name, logging: settings.logging, tracing: settings.tracing)
        context.logStart(settings.own)
        await serve(context, exporter, settings.sources) {
            let services = try await program.build(settings.own, context: context)
            // A start that fails reports its errors only.
            ServiceBootstrap.warn(settings.warnings, context.logger)
            return services
        }
    }

    /// Asks the running service's `/livez` where these flags and the environment say that it listens. Exits with 0 or 1.
    package static func checkHealth(of program: any ServiceProgram.Type, flags: [String: String]) async -> Never {
        let problem: String?
        do {
            problem = try await program.probe(flags: flags, environment: ProcessInfo.processInfo.environment).run()
        } catch {
            quit(reporting: error)
        }
        quit(
            problem == nil ? ExitCode.success : ExitCode.failure,
            problem.map { ["error: \(program.name) is not healthy: \($0)"] } ?? [])
    }

    private static func serve(
        _ context: ServiceContext, _ exporter: SpanExporter?, _ sources: ConfigurationReader,
        build: () async throws -> [any Service]
    ) async -> Never {
        let limit = ShutdownLimit { error in
            let (lines, code) = ServiceFailure.report(error ?? CancellationError())
            // Parts that still run must not meet the clean-up of exit(3).
            end(lines, within: ServiceBootstrap.maxFlush) { _exit(code) }
        }
        do {
            let services = try await build()
            try await ServiceBootstrap.group(of: services, exporter: exporter, context: context, limit: limit).run()
            context.logger.info("Stopped")
            quit(ExitCode.success, within: ServiceBootstrap.maxFlush)
        } catch {
            // After a signal the limit still ends the process in time.
            quit(reporting: error, sources)
        }
    }

    private static func quit(reporting error: any Error, _ sources: ConfigurationReader? = nil) -> Never {
        let (lines, code) = ServiceFailure.report(error, sources)
        quit(code, lines)
    }

    /// Ends the process after the last lines for standard error.
    private static func quit(
        _ code: Int32, _ lines: [String] = [], within limit: Duration = ServiceBootstrap.maxFailureFlush
    ) -> Never {
        end(lines, within: limit) { exit(code) }
    }

    /// Writes lines, waits until a reader of the log has them or the time is over, and ends the process.
    private static func end(_ lines: [String], within limit: Duration, _ exit: () -> Never) -> Never {
        LogWriter.standardError.write(lines.map { $0 + "\n" }.joined())
        LogWriter.standardError.flush(within: limit)
        exit()
    }
}

extension ServiceProgram {
    /// - Throws: all issues at once.
    static func settings(
        flags: [String: String], environment: [String: String]
    ) throws(ConfigurationError) -> ServiceSettings<Configuration> {
        var reader = ConfigurationReader(flags: flags, environment: environment)
        let settings = readAll(&reader)
        guard var settings, reader.issues.isEmpty else { throw ConfigurationError(reader.issues) }
        let keys = reader.keys
        settings.warnings = reader.exposedSecrets(keys) + reader.openFiles(keys) + reader.unknownVariables(keys)
        return settings
    }

    /// The check of a service with these settings. Of its settings it reads only where the service listens.
    static func probe(flags: [String: String], environment: [String: String]) throws(ConfigurationError) -> HealthProbe
    {
        var reader = ConfigurationReader(flags: flags, environment: environment)
        let host = reader[\.httpHost]
        let standard = keys.first { $0.name == ConfigurationKeys.httpPort.name }?.defaultValue
        let port = reader[ConfigurationKeys.port(default: standard.flatMap(Int.init) ?? 0)]
        if port == 0 {
            reader.note(\.httpPort, "is 0: the port is chosen at start, and health cannot know it")
        }
        guard reader.issues.isEmpty else { throw ConfigurationError(reader.issues) }
        return HealthProbe(host: host, port: port, usesTLS: reader.isSet(\.tlsCertificateFile))
    }
}

/// The report of a failed start or run to the operator.
enum ServiceFailure {
    /// The lines for standard error, and the exit code: 78 for a configuration that cannot be used, else 1.
    ///
    /// - Parameter sources: the reader of the settings; names an issue by the setting that its value came from.
    static func report(
        _ error: any Error, _ sources: ConfigurationReader? = nil
    ) -> (lines: [String], code: Int32) {
        switch error {
        case let error as ConfigurationError where error.issues.isEmpty:
            (["error: the configuration is incomplete"], ServiceMain.ExitCode.configuration)
        case let error as ConfigurationError:
            (error.issues.map { "error: \(sources?.located($0) ?? $0)" }, ServiceMain.ExitCode.configuration)
        case let error as StorageError where error.code == .invalid:
            report(ConfigurationError(ConfigurationKeys.databaseURL.name, error.message), sources)
        case is CancellationError:
            (["error: stopped before the drain was complete"], ServiceMain.ExitCode.failure)
        default:
            (["error: \(oneLine(ErrorText.describe(error)))"], ServiceMain.ExitCode.failure)
        }
    }

    private static func oneLine(_ text: String) -> String {
        OutsideText.lines(text).map { OutsideText.visible($0) }.joined(separator: " ")
    }
}
