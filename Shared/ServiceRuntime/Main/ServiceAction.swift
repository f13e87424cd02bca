import ServiceConfiguration

/// What a start of the executable leads to, decided without doing it.
enum ServiceAction<Configuration: Sendable>: Sendable {
    /// Print to standard output and exit 0.
    case print(String)
    /// Print lines to standard error and exit.
    case refuse(lines: [String], code: Int32)
    /// Ask the running service and exit 0 or 1.
    case checkHealth(HealthProbe)
    /// Build and run the service.
    case serve(Configuration, LoggingConfiguration)

    /// - Parameter arguments: without the program's name.
    static func decide(
        usage: ServiceUsage, arguments: [String], environment: [String: String],
        read: (inout ConfigurationReader) -> Configuration?
    ) -> ServiceAction {
        let parsed: ServiceArguments
        do {
            parsed = try ServiceArguments.parse(arguments, keys: usage.keys)
        } catch {
            let lines = ["\(usage.name): \(error)", "See \(usage.name) --help."]
            return .refuse(lines: lines, code: ServiceMain.ExitCode.usage)
        }
        var reader = ConfigurationReader(flags: parsed.flags, environment: environment)
        switch parsed.command {
        case .help: return .print(usage.help)
        case .version: return .print(usage.version)
        case .health: return health(&reader, usage)
        case .serve: return serve(&reader, usage, read)
        }
    }

    private static func serve(
        _ reader: inout ConfigurationReader, _ usage: ServiceUsage,
        _ read: (inout ConfigurationReader) -> Configuration?
    ) -> ServiceAction {
        var logging = LoggingConfiguration.read(&reader)
        logging.warnings = reader.exposedSecrets(usage.keys)
        let configuration = read(&reader)
        guard let configuration, reader.issues.isEmpty else { return refusal(reader, usage) }
        return .serve(configuration, logging)
    }

    private static func health(_ reader: inout ConfigurationReader, _ usage: ServiceUsage) -> ServiceAction {
        let key = usage.keys.first { $0.name == ConfigurationKeys.httpPort.name } ?? ConfigurationKeys.httpPort
        let port = key.defaultValue.map { ConfigurationKeys.httpPort.withDefault($0) } ?? ConfigurationKeys.httpPort
        let host = reader.read(ConfigurationKeys.httpHost)
        guard let host, let port = reader.require(port) else { return refusal(reader, usage) }
        if port == 0 {
            reader.note(ConfigurationKeys.httpPort.name, "is 0: any free port, so health does not know which to ask")
            return refusal(reader, usage)
        }
        return .checkHealth(
            HealthProbe(host: host, port: port, usesTLS: reader.isSet(ConfigurationKeys.tlsCertificateFile)))
    }

    private static func refusal(_ reader: ConfigurationReader, _ usage: ServiceUsage) -> ServiceAction {
        let lines = reader.issues.map { "\(usage.name): \($0)" }
        return .refuse(
            lines: lines.isEmpty ? ["\(usage.name): the configuration is incomplete"] : lines,
            code: ServiceMain.ExitCode.configuration)
    }
}
