import ServiceConfiguration
import ServiceRuntime

extension EmulatorConfiguration {
    static let defaultPort = 8090

    static let connectionStringKey = ConfigurationKey(
        "EMULATOR_CONNECTION_STRING", .string(hint: "TEXT"), isSecret: true,
        meaning: "Connection string that clients use, with rights Listen, Send and Manage; made at start when absent")

    static let endpointKey = ConfigurationKey(
        "EMULATOR_ENDPOINT", .string(hint: "URL"), defaultText: "where it listens",
        meaning: "Endpoint in the printed connection string, for example http://hub-emulator:8090/")

    static let hubNamesKey = ConfigurationKey(
        "EMULATOR_HUB_NAMES", .list, defaultText: "any", meaning: "Hubs that exist, separated by commas")

    static let listenKeyKey = ConfigurationKey(
        "EMULATOR_LISTEN_KEY", .string(hint: "KEY"), defaultText: "derived from the full rule's key", isSecret: true,
        meaning: "Key of the rule DefaultListenSharedAccessSignature")

    static let secondaryKeyKey = ConfigurationKey(
        "EMULATOR_SECONDARY_KEY", .string(hint: "KEY"), isSecret: true,
        meaning: "Second key of the full rule, for trying key rotation")

    static let recordsKey = ConfigurationKey(
        "EMULATOR_RECORDS", .integer(1...1_000_000), default: "10000",
        meaning: "Requests kept for GET /emulator/messages; the oldest makes room")

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: defaultPort) + [
            connectionStringKey, endpointKey, hubNamesKey, listenKeyKey, secondaryKeyKey, recordsKey,
        ]

    /// - Returns: nil when something cannot be used; the reader holds the issues.
    static func read(_ reader: inout ConfigurationReader) -> EmulatorConfiguration? {
        let http = HTTPConfiguration.read(&reader, defaultPort: defaultPort)
        let given = reader.read(connectionStringKey)
        let endpoint = reader.read(endpointKey)
        let fixed = given.flatMap(HubConnectionString.init)
        if given != nil, fixed == nil {
            reader.note(connectionStringKey.name, "is not Endpoint=...;SharedAccessKeyName=...;SharedAccessKey=...")
        }
        if let endpoint, !endpoint.contains("://") { reader.note(endpointKey.name, "is not a URL") }
        let listenKey = reader.read(listenKeyKey)
        let secondaryKey = reader.read(secondaryKeyKey)
        let hubNames = reader.read(hubNamesKey)
        guard let records = reader.read(recordsKey), let http, reader.issues.isEmpty else { return nil }
        let connectionString = HubConnectionString(
            endpoint: endpoint ?? fixed?.endpoint ?? http.endpoint,
            keyName: fixed?.keyName ?? SharedAccessRule.defaultFullName,
            key: fixed?.key ?? HubConnectionString.makeKey())
        var configuration = EmulatorConfiguration(http: http, connectionString: connectionString)
        configuration.listenKey = listenKey ?? configuration.listenKey
        configuration.secondaryKey = secondaryKey
        configuration.hubNames = hubNames.map { Set($0.map { $0.lowercased() }) }
        configuration.recordCapacity = records
        return configuration
    }
}

extension HTTPConfiguration {
    /// The URL under which a client on this machine reaches the service.
    fileprivate var endpoint: String {
        let reachable = ["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host
        let authority = reachable.contains(":") ? "[\(reachable)]" : reachable
        return "\(tls == nil ? "http" : "https")://\(authority):\(port)/"
    }
}
