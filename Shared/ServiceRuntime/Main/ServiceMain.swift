import Logging
public import ServiceConfiguration
public import ServiceLifecycle

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

/// What every executable service does around its own parts.
public enum ServiceMain {
    /// Exit codes, after `sysexits.h`.
    enum ExitCode {
        static let success: Int32 = 0
        static let failure: Int32 = 1
        static let usage: Int32 = 64
        static let configuration: Int32 = 78
    }

    /// Parses the command line, reads the configuration, builds the services and runs them until SIGTERM or SIGINT.
    ///
    /// `--help`, `--version` and the subcommand `health` answer and exit. An unknown flag or one without its value
    /// exits 64, an unusable configuration 78 with one line an issue on standard error. SIGTERM and SIGINT drain: the
    /// services stop in reverse order and have 8 s, then a second after cancellation; the exit code is 0. A second
    /// signal quits at once. SIGHUP reloads the parts that registered with ``ServiceContext/onReload(_:_:)``. A service
    /// that fails lets the others drain and exits 1.
    ///
    /// - Parameters:
    ///   - name: the executable's name.
    ///   - summary: one sentence for `--help`.
    ///   - keys: every key that `read` uses; `LOG_LEVEL` and `LOG_FORMAT` are added. The default of `HTTP_PORT` is also
    ///     where `health` looks.
    ///   - read: the configuration from the reader; `nil` if something needed is not there, with an issue noted.
    ///   - build: all services, those that others depend on first. A ``ConfigurationError`` exits 78.
    public static func run<Configuration: Sendable>(
        name: String, summary: String, keys: [any ConfigurationKeyDescription],
        read: (inout ConfigurationReader) -> Configuration?,
        build: (Configuration, ServiceContext) async throws -> [any Service]
    ) async -> Never {
        let usage = ServiceUsage(name: name, summary: summary, keys: keys)
        let action = ServiceAction.decide(
            usage: usage, arguments: Array(CommandLine.arguments.dropFirst()),
            environment: ProcessInfo.processInfo.environment, read: read)
        switch action {
        case .print(let text):
            StandardStream.output.write(text)
            exit(ExitCode.success)
        case .refuse(let lines, let code):
            StandardStream.error.write(lines.map { $0 + "\n" }.joined())
            exit(code)
        case .checkHealth(let probe):
            exit(await report(probe, name: name))
        case .serve(let configuration, let logging):
            ProcessTuning.apply()
            let context = ServiceBootstrap.bootstrap(name: name, logging: logging)
            exit(await serve(context) { try await build(configuration, context) })
        }
    }

    private static func report(_ probe: HealthProbe, name: String) async -> Int32 {
        guard let problem = await probe.run() else { return ExitCode.success }
        StandardStream.error.write("\(name): not healthy: \(problem)\n")
        return ExitCode.failure
    }

    private static func serve(_ context: ServiceContext, build: () async throws -> [any Service]) async -> Int32 {
        do {
            try await ServiceBootstrap.group(of: try await build(), context: context).run()
            context.logger.info("Stopped")
            return ExitCode.success
        } catch {
            let (lines, code) = ServiceFailure.report(error, name: context.name)
            StandardStream.error.write(lines.map { $0 + "\n" }.joined())
            return code
        }
    }
}
