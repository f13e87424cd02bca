import ArgumentParser
import Dispatcher
import Hub
import Ingest
import Operator
import Retrieval
import ServiceRuntime

/// Runs one service in this process.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run a service.",
        discussion: """
            A symbolic link with the name of a service runs that service: ingest is short for securepush serve ingest.

            EXAMPLES
              securepush serve ingest
              securepush serve dispatcher --http-port 9082
              securepush serve ingest health
            """,
        subcommands: services.map { $0.command })

    /// Every service of this program.
    static let services: [any ServiceProgram.Type] = [
        IngestService.self, DispatcherService.self, RetrievalService.self, OperatorService.self,
        HubService.self, HubEmulatorService.self,
    ]

    /// The arguments for ``SecurePush``, if the program was called by the name of a service.
    ///
    /// - Parameter commandLine: with the path of the program.
    static func arguments(of commandLine: [String]) -> [String] {
        let name = commandLine.first?.split(separator: "/").last.map(String.init) ?? ""
        let isService = services.contains { $0.name == name }
        return (isService ? ["serve", name] : []) + commandLine.dropFirst()
    }
}

extension ServiceProgram {
    fileprivate static var command: any ParsableCommand.Type { ServiceCommand<Self>.self }
}

/// Runs the service `Program`.
struct ServiceCommand<Program: ServiceProgram>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Program.name,
            abstract: Program.summary,
            usage: """
                securepush serve \(Program.name) [OPTIONS]
                securepush serve \(Program.name) health [OPTIONS]
                """,
            discussion: """
                Each option is also an environment variable. The option wins. Durations are a number and ms, s, m, h or \
                d. Exit codes: 0 stopped after SIGTERM, 1 failed, 64 wrong usage, 78 invalid configuration.

                EXAMPLES
                  securepush serve \(Program.name)
                  securepush serve \(Program.name) --http-port 9090 --log-level debug
                """,
            version: SecurePushVersion.line(of: Program.name),
            subcommands: [HealthCommand<Program>.self])
    }

    @OptionGroup(title: "Settings") var settings: SettingOptions<Program>

    func run() async throws { await ServiceMain.serve(Program.self, flags: settings.values) }
}

/// Checks a running service, for container health checks without a shell or curl.
struct HealthCommand<Program: ServiceProgram>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "health",
            abstract: "Check the running service.",
            usage: "securepush serve \(Program.name) health [OPTIONS]",
            discussion: """
                Asks /livez of the service with the same settings. Exit codes: 0 healthy, 1 not.

                EXAMPLES
                  securepush serve \(Program.name) health
                """)
    }

    @OptionGroup(title: "Settings") var settings: SettingOptions<Program>

    func run() async throws { await ServiceMain.checkHealth(of: Program.self, flags: settings.values) }
}
