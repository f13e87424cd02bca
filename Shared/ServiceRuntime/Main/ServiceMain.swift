import Domain
import Foundations
import Logging
package import ServiceConfiguration
package import ServiceLifecycle

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

/// The entry point of every service: command line, configuration, signals, exit codes.
package enum ServiceMain {
    /// Exit codes, after `sysexits.h`.
    enum ExitCode {
        static let success: Int32 = 0
        static let failure: Int32 = 1
        static let usage: Int32 = 64
        static let configuration: Int32 = 78
    }

    /// Parses the command line, reads the configuration, builds the services and runs them until SIGTERM or SIGINT.
    ///
    /// - `--help`, `--version` and the subcommand `health` answer and exit.
    /// - An unknown flag, or one without its value, exits 64.
    /// - An invalid configuration exits 78, with one line per issue on standard error.
    /// - SIGTERM and SIGINT drain: the services stop in reverse order within 8 s. Then they are cancelled and have one
    ///   more second. The exit code is 0. A second signal quits at once.
    /// - SIGHUP reloads the parts that registered with ``ServiceContext/onReload(_:_:)``.
    /// - If a service fails, the others drain, and the exit code is 1.
    /// - A log that nobody reads delays a failure by 5 s at most, and the end after a signal by less than a second.
    ///
    /// - Parameters:
    ///   - name: the executable's name.
    ///   - summary: one sentence for `--help`.
    ///   - isTraced: whether the service makes spans, and has the settings for them.
    ///   - read: reads the configuration; `nil` if something required is missing, with an issue noted in the reader. It
    ///     is also run on an empty environment: the keys that it reads are the service's settings.
    ///   - build: makes all services, those that others depend on first. A ``ConfigurationError`` exits 78.
    package static func run<Configuration: Sendable>(
        name: String, summary: String, isTraced: Bool = true, read: (inout ConfigurationReader) -> Configuration?,
        build: (Configuration, ServiceContext) async throws -> [any Service]
    ) async -> Never {
        StandardDescriptors.openMissing()
        ProcessTuning.ignoreSignals()
        let usage = ServiceUsage(name: name, summary: summary, isTraced: isTraced) { _ = read(&$0) }
        let action = ServiceAction.decide(
            usage: usage, arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment, read: read)
        switch action {
        case .print(let text):
            exit(StandardStream.output.write(text) ? ExitCode.success : ExitCode.failure)
        case .refuse(let lines, let code):
            quit(code, lines)
        case .checkHealth(let probe):
            let problem = await probe.run()
            quit(
                problem == nil ? ExitCode.success : ExitCode.failure,
                problem.map { ["error: \(name) is not healthy: \($0)"] } ?? [])
        case .serve(let configuration, let logging, let tracing):
            ProcessTuning.apply()
            let (context, exporter) = ServiceBootstrap.bootstrap(name: name, logging: logging, tracing: tracing)
            context.logStart(configuration)
            await serve(context, exporter) { try await build(configuration, context) }
        }
    }

    /// Reads the settings of tracing and logging, which ``run(name:summary:isTraced:read:build:)`` uses itself.
    package static func readShared(_ reader: inout ConfigurationReader, isTraced: Bool = true) {
        if isTraced { _ = TracingConfiguration.read(&reader) }
        _ = LoggingConfiguration.read(&reader)
    }

    private static func serve(
        _ context: ServiceContext, _ exporter: SpanExporter?, build: () async throws -> [any Service]
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
            let (lines, code) = ServiceFailure.report(error)
            quit(code, lines)
        }
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

/// The decision on what a start of the executable does. Deciding has no side effects.
enum ServiceAction<Configuration: Sendable>: Sendable {
    /// Print to standard output and exit 0.
    case print(String)
    /// Print lines to standard error and exit.
    case refuse(lines: [String], code: Int32)
    /// Check the running service and exit 0 or 1.
    case checkHealth(HealthProbe)
    /// Build and run the service; without tracing if there is no configuration of it.
    case serve(Configuration, LoggingConfiguration, TracingConfiguration?)

    /// - Parameter arguments: without the program's name.
    static func decide(
        usage: ServiceUsage, arguments: [String], environment: [String: String],
        read: (inout ConfigurationReader) -> Configuration?
    ) -> ServiceAction {
        let parsed: ServiceArguments
        do {
            parsed = try ServiceArguments.parse(arguments, keys: usage.keys)
        } catch {
            let lines = ["error: \(error)", "See \(usage.name) --help."]
            return .refuse(lines: lines, code: ServiceMain.ExitCode.usage)
        }
        var reader = ConfigurationReader(flags: parsed.flags, environment: environment)
        switch parsed.command {
        case .help: return .print(usage.help(columns: Terminal.proseColumns(of: STDOUT_FILENO, environment)))
        case .version: return .print(usage.version)
        case .dump: return .print(usage.dump)
        case .health: return health(&reader, usage)
        case .serve: return serve(&reader, usage, read)
        }
    }

    private static func serve(
        _ reader: inout ConfigurationReader, _ usage: ServiceUsage,
        _ read: (inout ConfigurationReader) -> Configuration?
    ) -> ServiceAction {
        var logging = LoggingConfiguration.read(&reader)
        logging.warnings = reader.exposedSecrets(usage.keys) + reader.unknownVariables(usage.keys)
        let tracing = usage.isTraced ? TracingConfiguration.read(&reader) : nil
        let configuration = read(&reader)
        guard let configuration, reader.issues.isEmpty else { return refusal(reader, usage) }
        return .serve(configuration, logging, tracing)
    }

    private static func health(_ reader: inout ConfigurationReader, _ usage: ServiceUsage) -> ServiceAction {
        let host = reader[\.httpHost]
        let standard = usage.keys.first { $0.name == ConfigurationKeys.httpPort.name }?.defaultValue
        let port = reader[ConfigurationKeys.port(default: standard.flatMap(Int.init) ?? 0)]
        if port == 0 {
            reader.note(\.httpPort, "is 0: the port is chosen at start, and health cannot know it")
        }
        guard reader.issues.isEmpty else { return refusal(reader, usage) }
        return .checkHealth(HealthProbe(host: host, port: port, usesTLS: reader.isSet(\.tlsCertificateFile)))
    }

    private static func refusal(_ reader: ConfigurationReader, _ usage: ServiceUsage) -> ServiceAction {
        let lines = reader.issues.map { "error: \($0)" }
        return .refuse(
            lines: lines.isEmpty ? ["error: the configuration is incomplete"] : lines,
            code: ServiceMain.ExitCode.configuration)
    }
}

/// The report of a failed start or run to the operator.
enum ServiceFailure {
    /// The lines for standard error, and the exit code: 78 for a configuration that cannot be used, else 1.
    static func report(_ error: any Error) -> (lines: [String], code: Int32) {
        switch error {
        case let error as ConfigurationError:
            (error.issues.map { "error: \($0)" }, ServiceMain.ExitCode.configuration)
        case let error as StorageError where error.code == .invalid:
            (["error: \(ConfigurationKeys.databaseURL.name): \(error.message)"], ServiceMain.ExitCode.configuration)
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
