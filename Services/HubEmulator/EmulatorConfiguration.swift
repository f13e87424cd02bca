import ServiceRuntime

/// The emulator's settings.
struct EmulatorConfiguration: Sendable {
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
    /// Nil: any hub name is taken.
    var hubNames: Set<String>?
    /// How many records are kept.
    var recordCapacity = 10_000
    /// How much memory they may hold, about.
    var maximumRecordBytes = RecordLog.defaultMaximumBytes
    /// The SQLite file that keeps state over a restart; nil: memory only.
    var stateFile: String?
    /// Faults that come and go by themselves.
    var scenarioFile: String?
    /// The seed of faults that name none.
    var seed: UInt64?

    /// How many devices are kept.
    static let deviceCapacity = 100_000

    init(http: HTTPConfiguration, connectionString: HubConnectionString) {
        self.http = http
        self.connectionString = connectionString
        listenKey = connectionString.derivedListenKey
    }

    /// The connection string's text; a port that the system chose stands in it.
    func connectionString(listeningOn port: Int) -> String {
        http.port == 0
            ? connectionString.text.replacing(":0/;", with: ":\(port)/;", maxReplacements: 1) : connectionString.text
    }

    /// The names under which the emulator's own API and page answer.
    var hostAllowList: HostAllowList {
        HostAllowList(
            listeningHost: http.host, endpointHost: TokenAudience(url: connectionString.endpoint).host,
            allowed: allowedHosts)
    }

    /// How locations begin: as clients reach the emulator, also behind a proxy that ends TLS. The JavaScript client
    /// takes
    /// `https` only.
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
