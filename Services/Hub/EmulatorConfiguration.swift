import Domain
import Foundation
import ServiceConfiguration
import ServiceRuntime
import Storage

package struct EmulatorConfiguration: Sendable {
    var http: HTTPConfiguration
    var connectionString: HubConnectionString
    /// The key of the Listen rule.
    var listenKey: String
    /// A second key of the full rule, for trying key rotation.
    var secondaryKey: String?
    /// Rules of the namespace besides the full and the Listen rule.
    var accessRules: [SharedAccessRule] = []
    /// Further host names for the emulator's own API and page.
    var allowedHosts: [String] = []
    /// The hubs that exist, in lower case; nil: every name is a hub.
    var hubNames: Set<String>?
    /// The maximum number of kept records.
    var recordCapacity = 10_000
    /// The approximate maximum of their memory, in bytes.
    var maxRecordBytes = RecordLog.defaultMaxBytes
    /// The SQLite file that keeps the state over a restart; nil: memory only.
    var stateFile: String?
    /// A JSON file of faults with start times and durations.
    var scenarioFile: String?
    /// The seed of faults that have no seed of their own.
    var seed: UInt64?
    /// The folder of a web app that the emulator serves; nil: none.
    var webAppFolder: String?

    /// The maximum number of simulated devices.
    static let deviceCapacity = 100_000

    init(http: HTTPConfiguration, connectionString: HubConnectionString) {
        self.http = http
        self.connectionString = connectionString
        listenKey = connectionString.derivedListenKey
    }

    /// The connection string's text, with the bound port if the system chose it.
    func connectionString(listeningOn port: Int) -> String {
        http.port == 0
            ? connectionString.text.replacing(":0/;", with: ":\(port)/;", maxReplacements: 1) : connectionString.text
    }

    /// The place of its hubs and their devices: the state file, or else the memory of this process.
    ///
    /// - Throws: ``StorageError`` for a path that cannot be one of a file.
    var storage: StorageConfiguration {
        get throws(StorageError) { try StorageConfiguration(url: stateFile.map { "sqlite:\($0)" } ?? "memory:") }
    }

    /// The host names under which the emulator's own API and page answer.
    var hostAllowList: HostAllowList {
        HostAllowList(
            listeningHost: http.host,
            // Clients reach the emulator under the host of the connection string.
            allowed: [TokenAudience(url: connectionString.endpoint).host] + allowedHosts,
            setting: Self.allowedHostsKey.name)
    }

    /// The scheme of locations in responses: the one that clients use, even behind a proxy that ends TLS. The
    /// JavaScript client accepts `https` only.
    var locationScheme: String {
        http.tls != nil || connectionString.endpoint.lowercased().hasPrefix("https://") ? "https" : "http"
    }

    var rules: [SharedAccessRule] {
        [
            SharedAccessRule(
                name: connectionString.keyName, primaryKey: connectionString.key, secondaryKey: secondaryKey,
                rights: .full),
            SharedAccessRule(name: SharedAccessRule.defaultListenName, primaryKey: listenKey, rights: .listen),
        ] + accessRules
    }
}

// MARK: Reading

extension EmulatorConfiguration {
    private static let connectionStringKey = ConfigurationKey(
        "EMULATOR_CONNECTION_STRING", .string(hint: "TEXT"), isSecret: true,
        meaning:
            "Connection string that clients use, with rights Listen, Send and Manage (default: a new one per start)")

    private static func fileKey(of key: some ConfigurationKeyDescription) -> ConfigurationKey<String?> {
        ConfigurationKey(
            key.name + "_FILE", .existingFile,
            meaning: "File with the value of \(key.name), instead of it; read at start")
    }

    private static let endpointKey = ConfigurationKey(
        "EMULATOR_ENDPOINT", .string(hint: "URL"), defaultText: "the listening address",
        meaning: "Endpoint in the printed connection string, for example http://hub-emulator:8090/")

    private static let allowedHostsKey = ConfigurationKey(
        "EMULATOR_ALLOWED_HOSTS", .list,
        defaultText: "loopback names, the listening address, the endpoint's host",
        meaning: "Further host names under which the page and /emulator answer, separated by commas")

    private static let hubNamesKey = ConfigurationKey(
        "EMULATOR_HUB_NAMES", .list, defaultText: "any", meaning: "Hubs that exist, separated by commas")

    private static let listenKeyKey = ConfigurationKey(
        "EMULATOR_LISTEN_KEY", .string(hint: "KEY"), defaultText: "derived from the full rule's key", isSecret: true,
        meaning: "Key of the rule DefaultListenSharedAccessSignature")

    private static let secondaryKeyKey = ConfigurationKey(
        "EMULATOR_SECONDARY_KEY", .string(hint: "KEY"), isSecret: true,
        meaning: "Second key of the full rule, for trying key rotation")

    private static let accessRulesKey = ConfigurationKey(
        "EMULATOR_ACCESS_RULES", .list, isSecret: true,
        meaning: "Further rules, separated by commas: NAME:Listen+Send+Manage:KEY or NAME:RIGHTS:KEY:SECONDARYKEY")

    private static let recordsKey = ConfigurationKey(
        "EMULATOR_RECORDS", .integer(1...1_000_000), default: "10000",
        meaning: "Maximum number of requests kept for GET /emulator/messages; the oldest are dropped first")

    private static let recordMegabytesKey = ConfigurationKey(
        "EMULATOR_RECORD_MEGABYTES", .integer(1...16_384), default: "64",
        meaning: "Maximum memory of the kept requests; the oldest are dropped first")

    static let stateKey = ConfigurationKey(
        "EMULATOR_STATE", .path, shortFlag: "--state", defaultText: "memory only",
        meaning: "SQLite file that keeps hubs, registrations, installations and schedules over a restart")

    static let scenarioKey = ConfigurationKey(
        "EMULATOR_SCENARIO", .existingFile, shortFlag: "--scenario",
        meaning: "JSON file of faults with start times and durations")

    private static let seedKey = ConfigurationKey(
        "EMULATOR_SEED", .integer(0...Int.max), defaultText: "random",
        meaning: "Seed of the random draws of faults that have a rate")

    static let webAppKey = ConfigurationKey(
        "EMULATOR_WEB_APP", .path,
        meaning: "Folder of a web app that is served at /emulator/app/, with its header fields in the file _headers")

    /// - Returns: nil when a setting is invalid; the reader holds the issues.
    static func read(_ reader: inout ConfigurationReader) -> EmulatorConfiguration? {
        // A development tool without user secrets: clients reach it by http in a private network.
        let http = HTTPConfiguration.read(&reader, defaultPort: 8090, isAPI: false)
        let given = reader[connectionStringKey, orFile: fileKey(of: connectionStringKey)]
        let endpoint = reader[endpointKey]
        let fixed = given.flatMap(HubConnectionString.init)
        if given != nil, fixed == nil {
            reader.note(connectionStringKey.name, "is not Endpoint=...;SharedAccessKeyName=...;SharedAccessKey=...")
        }
        if let endpoint, !endpoint.contains("://") { reader.note(endpointKey.name, "is not a URL") }
        let connectionString = HubConnectionString(
            endpoint: endpoint ?? fixed?.endpoint ?? http?.endpoint ?? "",
            keyName: fixed?.keyName ?? SharedAccessRule.defaultFullName,
            key: fixed?.key ?? HubConnectionString.makeKey())
        var configuration = EmulatorConfiguration(
            http: http ?? HTTPConfiguration(port: 0), connectionString: connectionString)
        configuration.readHubs(&reader)
        configuration.readFiles(&reader)
        return reader.issues.isEmpty ? configuration : nil
    }

    private mutating func readHubs(_ reader: inout ConfigurationReader) {
        listenKey = reader[Self.listenKeyKey, orFile: Self.fileKey(of: Self.listenKeyKey)] ?? listenKey
        secondaryKey = reader[Self.secondaryKeyKey, orFile: Self.fileKey(of: Self.secondaryKeyKey)]
        hubNames = reader[Self.hubNamesKey].map { Set($0.map { $0.lowercased() }) }
        let rules = (reader[Self.accessRulesKey, orFile: Self.fileKey(of: Self.accessRulesKey)] ?? []).map(
            SharedAccessRule.init(setting:))
        accessRules = rules.compactMap { $0 }
        if accessRules.count < rules.count {
            reader.note(
                Self.accessRulesKey.name, "is not NAME:RIGHTS:KEY, RIGHTS of Listen, Send and Manage joined by +")
        }
        allowedHosts = reader[Self.allowedHostsKey] ?? []
        if allowedHosts.contains(where: { $0.contains("/") || $0.contains("*") }) {
            reader.note(Self.allowedHostsKey.name, "must be a list of host names without scheme, path or *")
        }
    }

    private mutating func readFiles(_ reader: inout ConfigurationReader) {
        recordCapacity = reader[Self.recordsKey]
        maxRecordBytes = reader[Self.recordMegabytesKey] * 1024 * 1024
        stateFile = reader[Self.stateKey]
        scenarioFile = reader[Self.scenarioKey]
        seed = reader[Self.seedKey].map { UInt64($0) }
        webAppFolder = reader[Self.webAppKey]
        if let webAppFolder, !webAppFolder.isFolder { reader.note(Self.webAppKey.name, "is not a folder") }
    }
}

extension String {
    fileprivate var isFolder: Bool {
        (try? URL(fileURLWithPath: self).resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true
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
