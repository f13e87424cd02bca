import ChaosChecker
import Domain
import Foundation
import Foundations
import StackKit

/// The servers and services of a run, all on loopback.
struct Stack: Sendable {
    let options: ChaosOptions
    let folder: RunFolder
    let secrets: StackSecrets
    let broker: any Broker
    let database: PostgresServer
    /// The emulator, or processes of `hub`.
    let hubs: [ServiceProcess]
    let backend: any PushBackend
    /// `nil` with the hub emulator.
    let own: Own?
    let ingests: [ServiceProcess]
    let dispatchers: [ServiceProcess]
    let retrievals: [ServiceProcess]
    let http: LoopbackHTTP
    let logs: LogCollector

    /// The push services of hubs of one's own, and what the hubs present to them.
    struct Own: Sendable {
        let services: PushServicesBackend
        let credentials: HubCredentials
    }

    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts everything, or nothing.
    static func start(_ options: ChaosOptions, folder: RunFolder, history: HistoryWriter) async throws -> Stack {
        let scripts = Scripts(folder: URL(filePath: options.scripts).absoluteURL)
        if options.nodes == 3, !scripts.has("rabbitmq-cluster.sh") {
            throw NotStarted(description: "--nodes 3 needs \(options.scripts)/rabbitmq-cluster.sh.")
        }
        let secrets = StackSecrets(sender: "chaos")
        try secrets.write(to: folder.secrets)
        let services = 1 + options.hubCount + options.ingests + options.dispatchers
        let pushPorts = PushServicesBackend.portCount(options)
        let port = try freePorts(4 + pushPorts + services)
        let broker: any Broker =
            options.nodes == 3
            ? ThreeNodes(scripts: scripts, folder: folder.broker)
            : SingleNode(server: RabbitMQServer(folder: folder.broker, port: port, scripts: scripts))
        let database = PostgresServer(folder: folder.postgres, port: port + 3, scripts: scripts)
        var own: Own?
        do {
            try await broker.start()
            if options.database == .postgres { try await database.start() }
            if options.isOwn {
                let credentials = try HubCredentials(secrets)
                let started = try await PushServicesBackend.start(
                    options, in: folder, firstPort: port + 4, scripts: scripts, credentials: credentials)
                own = Own(services: started, credentials: credentials)
                try HubFiles.write(
                    secrets, credentials, to: folder.secrets, services: started.services.map(\.fake))
            }
            let stack = Stack(
                options, folder, secrets, broker, database, own, scripts, firstPort: port + 4 + pushPorts, history)
            try await stack.startServices()
            return stack
        } catch {
            await own?.services.end()
            await Self.endServers(broker, database, options)
            throw error
        }
    }

    private init(
        _ options: ChaosOptions, _ folder: RunFolder, _ secrets: StackSecrets, _ broker: any Broker,
        _ database: PostgresServer, _ own: Own?, _ scripts: Scripts, firstPort first: Int,
        _ history: HistoryWriter
    ) {
        (self.options, self.folder, self.secrets, self.broker, self.database) =
            (options, folder, secrets, broker, database)
        self.own = own
        let products = URL(filePath: options.products).absoluteURL
        let settings = ServiceSettings(
            options: options, secrets: secrets, brokerURL: broker.url,
            databaseURL: Self.databaseURL(options, folder, database), firstHubPort: first)
        let logs = LogCollector(folder)
        self.logs = logs
        func service(_ product: String, _ name: String, _ port: Int, _ environment: [String: String]) -> ServiceProcess
        {
            ServiceProcess(
                name, product: product, in: products, port: port, environment: environment,
                folder: folder, scripts: scripts, logs: logs, history: history)
        }
        hubs =
            options.isOwn
            ? (0..<options.hubCount).map { service("hub", "hub-\($0 + 1)", first + $0, settings.hub) }
            : [service("hub-emulator", "hub-emulator", first, settings.emulator)]
        let next = first + options.hubCount
        retrievals = [service("retrieval", "retrieval-1", next, settings.retrieval)]
        ingests = (0..<options.ingests).map { service("ingest", "ingest-\($0 + 1)", next + 1 + $0, settings.ingest) }
        dispatchers = (0..<options.dispatchers).map {
            service(
                "dispatcher", "dispatcher-\($0 + 1)", next + 1 + options.ingests + $0,
                settings.dispatcher(hub: $0 % options.hubCount))
        }
        http = LoopbackHTTP(connections: max(64, options.inFlight))
        backend =
            own?.services
            ?? EmulatorBackend(port: first, http: http, seed: options.seed, swallow: options.swallowed)
    }

    private static func databaseURL(
        _ options: ChaosOptions, _ folder: RunFolder, _ database: PostgresServer
    ) -> String {
        switch options.database {
        case .postgres: database.url
        case .sqlite: "sqlite:\(folder.sqlite.path)/securepush.sqlite"
        }
    }

    var databaseURL: String { Self.databaseURL(options, folder, database) }

    var all: [ServiceProcess] { hubs + ingests + retrievals + dispatchers }

    private func startServices() async throws {
        // The first that opens the store makes its schema; the others find it.
        for service in all {
            try service.start()
            guard await http.waitUntilOK(port: service.port, "/readyz", within: patience) else {
                for service in all { await service.kill() }
                await http.close()
                throw NotStarted(description: "\(service.name) did not become ready; see \(folder.logs.path).")
            }
        }
    }

    /// Ends everything: services by SIGTERM, first those that accept work.
    func end() async {
        for service in all { service.send(SIGCONT) }
        for group in [ingests, retrievals, dispatchers, hubs] {
            await withTaskGroup(of: Void.self) { tasks in
                for service in group { tasks.addTask { await service.terminate() } }
            }
        }
        logs.end()
        await own?.services.end()
        await http.close()
        await Self.endServers(broker, database, options)
    }

    private static func endServers(
        _ broker: any Broker, _ database: PostgresServer, _ options: ChaosOptions
    ) async {
        await broker.stop()
        if options.database == .postgres { try? await database.stop() }
    }
}

/// The settings of each service of a run; files of keys are named from the folder that the services run in.
struct ServiceSettings: Sendable {
    let options: ChaosOptions
    let secrets: StackSecrets
    let brokerURL: String
    let databaseURL: String
    let firstHubPort: Int

    private var platforms: String { options.platformNames.joined(separator: ",") }

    /// How a service reaches a hub.
    ///
    /// - Parameter number: from 0.
    private func client(ofHub number: Int) -> [String: String] {
        [
            "HUB_CONNECTION_STRING":
                "Endpoint=http://127.0.0.1:\(firstHubPort + number)/;SharedAccessKeyName=\(HubFiles.rule);"
                + "SharedAccessKey=\(secrets.hubKey)",
            "HUB_NAME": HubFiles.hub, "HUB_PLATFORMS": platforms,
        ]
    }

    private var store: [String: String] { ["DATABASE_URL": databaseURL] }
    private var broker: [String: String] { ["AMQP_URL": brokerURL, "RETRY_DELAYS": options.retryDelays] }

    var emulator: [String: String] {
        [
            "EMULATOR_CONNECTION_STRING": client(ofHub: 0)["HUB_CONNECTION_STRING"] ?? "",
            "EMULATOR_SEED": "\(options.seed)",
            // The log keeps so many records that the run loses none while it does not read.
            "EMULATOR_RECORDS": "200000", "EMULATOR_RECORD_MEGABYTES": "256",
        ]
    }

    var hub: [String: String] { store.merging(HubFiles.settings) { $1 } }

    var ingest: [String: String] {
        store.merging(broker) { $1 }.merging([
            "HUB_PLATFORMS": platforms
        ]) { $1 }.merging(StackSecrets.settings) { $1 }
    }

    func dispatcher(hub number: Int) -> [String: String] {
        store.merging(broker) { $1 }.merging(client(ofHub: number)) { $1 }
            .merging([
                "DISPATCH_CONCURRENCY": "\(options.concurrency)", "DISPATCH_WITHDRAW": options.withdraw.rawValue,
            ]) { $1 }
            .merging(options.sign ? ["PUSH_SIGNING_KEY_FILE": "push-signing-key.pem"] : [:]) { $1 }
    }

    var retrieval: [String: String] {
        store.merging(client(ofHub: 0)) { $1 }
            .merging(["PAYLOAD_KEYS_FILE": "payload-keys", "AUTH_JWKS_FILE": "jwks.json"]) { $1 }
            .merging(options.sign ? ["PUSH_VERIFICATION_KEYS_FILE": "push-keys.json"] : [:]) { $1 }
    }
}

/// Where everything of a run is.
struct RunFolder: Sendable {
    let url: URL

    /// - Parameter path: made unless it is there; `nil` for a new temporary folder.
    init(_ path: String?) throws {
        if let path {
            url = URL(filePath: path).standardizedFileURL
        } else {
            url = FileManager.default.temporaryDirectory
                .appending(path: "securepush-chaos-\(UUID().uuidString.prefix(8).lowercased())")
        }
        for folder in [url, run, logs] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    /// Process IDs. With them a user can end processes that a run has left behind.
    var run: URL { url.appending(path: "run") }
    var logs: URL { url.appending(path: "logs") }
    var broker: URL { url.appending(path: "rabbitmq") }
    var postgres: URL { url.appending(path: "postgres") }
    var sqlite: URL { url.appending(path: "sqlite") }
    var secrets: URL { url.appending(path: "secrets") }
    /// The certificates and the output of the push services.
    var pushServices: URL { url.appending(path: "push-services") }
}
