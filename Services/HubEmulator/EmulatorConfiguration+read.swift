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

    static let allowedHostsKey = ConfigurationKey(
        "EMULATOR_ALLOWED_HOSTS", .list,
        defaultText: "loopback names, where it listens, the endpoint's host",
        meaning: "Further host names under which the page and /emulator answer, separated by commas")

    static let hubNamesKey = ConfigurationKey(
        "EMULATOR_HUB_NAMES", .list, defaultText: "any", meaning: "Hubs that exist, separated by commas")

    static let listenKeyKey = ConfigurationKey(
        "EMULATOR_LISTEN_KEY", .string(hint: "KEY"), defaultText: "derived from the full rule's key", isSecret: true,
        meaning: "Key of the rule DefaultListenSharedAccessSignature")

    static let secondaryKeyKey = ConfigurationKey(
        "EMULATOR_SECONDARY_KEY", .string(hint: "KEY"), isSecret: true,
        meaning: "Second key of the full rule, for trying key rotation")

    static let accessRulesKey = ConfigurationKey(
        "EMULATOR_ACCESS_RULES", .list, isSecret: true,
        meaning: "Further rules, separated by commas: NAME:Listen+Send+Manage:KEY or NAME:RIGHTS:KEY:SECONDARYKEY")

    static let recordsKey = ConfigurationKey(
        "EMULATOR_RECORDS", .integer(1...1_000_000), default: "10000",
        meaning: "Requests kept for GET /emulator/messages; the oldest makes room")

    static let recordMegabytesKey = ConfigurationKey(
        "EMULATOR_RECORD_MEGABYTES", .integer(1...16_384), default: "64",
        meaning: "Memory that the kept requests may hold; the oldest makes room")

    static let stateKey = ConfigurationKey(
        "EMULATOR_STATE", .path, shortFlag: "--state", defaultText: "memory only",
        meaning: "SQLite file that keeps hubs, registrations, installations and schedules over a restart")

    static let scenarioKey = ConfigurationKey(
        "EMULATOR_SCENARIO", .existingFile, shortFlag: "--scenario",
        meaning: "JSON file of faults that come and go at their times")

    static let seedKey = ConfigurationKey(
        "EMULATOR_SEED", .integer(0...Int.max), defaultText: "random",
        meaning: "Makes the draws of faults with a rate repeatable")

    static let keys: [any ConfigurationKeyDescription] =
        HTTPConfiguration.keys(defaultPort: defaultPort) + [
            connectionStringKey, endpointKey, allowedHostsKey, hubNamesKey, listenKeyKey, secondaryKeyKey,
            accessRulesKey, recordsKey, recordMegabytesKey, stateKey, scenarioKey, seedKey,
        ]

    /// - Returns: nil when something cannot be used; the reader holds the issues.
    static func read(_ reader: inout ConfigurationReader) -> EmulatorConfiguration? {
        // A development tool that holds no secrets of users: clients reach it by http in a private network.
        let http = HTTPConfiguration.read(&reader, defaultPort: defaultPort, isAPI: false)
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
        let accessRules = (reader.read(accessRulesKey) ?? []).map(SharedAccessRule.init(setting:))
        if accessRules.contains(where: { $0 == nil }) {
            reader.note(accessRulesKey.name, "is not NAME:RIGHTS:KEY, RIGHTS of Listen, Send and Manage joined by +")
        }
        let allowedHosts = reader.read(allowedHostsKey) ?? []
        if allowedHosts.contains(where: { $0.contains("/") || $0.contains("*") }) {
            reader.note(allowedHostsKey.name, "is a list of host names without scheme, path and *")
        }
        let stateFile = reader.read(stateKey)
        let scenarioFile = reader.read(scenarioKey)
        let seed = reader.read(seedKey)
        let megabytes = reader.read(recordMegabytesKey)
        guard let records = reader.read(recordsKey), let megabytes, let http, reader.issues.isEmpty else { return nil }
        let connectionString = HubConnectionString(
            endpoint: endpoint ?? fixed?.endpoint ?? http.endpoint,
            keyName: fixed?.keyName ?? SharedAccessRule.defaultFullName,
            key: fixed?.key ?? HubConnectionString.makeKey())
        var configuration = EmulatorConfiguration(http: http, connectionString: connectionString)
        configuration.listenKey = listenKey ?? configuration.listenKey
        configuration.secondaryKey = secondaryKey
        configuration.allowedHosts = allowedHosts
        configuration.hubNames = hubNames.map { Set($0.map { $0.lowercased() }) }
        configuration.accessRules = accessRules.compactMap { $0 }
        configuration.recordCapacity = records
        configuration.maximumRecordBytes = megabytes * 1024 * 1024
        configuration.stateFile = stateFile
        configuration.scenarioFile = scenarioFile
        configuration.seed = seed.map { UInt64($0) }
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
