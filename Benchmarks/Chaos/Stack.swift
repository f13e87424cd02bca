import ChaosChecker
import Foundation

/// The servers and services of a run, all on loopback, from the folder of the running executable.
struct Stack: Sendable {
    let options: ChaosOptions
    let folder: RunFolder
    let secrets: Secrets
    let scripts: Scripts
    let broker: any Broker
    let databasePort: Int
    let emulator: ServiceProcess
    let ingests: [ServiceProcess]
    let dispatchers: [ServiceProcess]
    let retrievals: [ServiceProcess]
    let http: HTTP

    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts everything, or nothing.
    static func start(_ options: ChaosOptions, folder: RunFolder, history: HistoryWriter) async throws -> Stack {
        let scripts = Scripts(folder: URL(filePath: options.scripts).absoluteURL, temporary: folder.run)
        if options.nodes == 3, !scripts.has("rabbitmq-cluster.sh") {
            throw NotStarted(description: "--nodes 3 needs \(options.scripts)/rabbitmq-cluster.sh.")
        }
        let secrets = Secrets()
        try secrets.write(to: folder.secrets)
        let services = 2 + options.ingests + options.dispatchers
        let port = try await scripts.freePorts(4 + services)
        let broker: any Broker =
            options.nodes == 3
            ? ThreeNodes(scripts: scripts, folder: folder.broker)
            : SingleNode(scripts: scripts, folder: folder.broker, port: port)
        do {
            try await broker.start()
            if options.database == .postgres {
                try await scripts.run("postgres.sh", ["start", folder.postgres.path, "\(port + 3)"])
            }
            let stack = try Stack(options, folder, secrets, scripts, broker, port, history)
            try await stack.startServices()
            return stack
        } catch {
            await Self.endServers(broker, scripts, folder, options)
            throw error
        }
    }

    private init(
        _ options: ChaosOptions, _ folder: RunFolder, _ secrets: Secrets, _ scripts: Scripts, _ broker: any Broker,
        _ port: Int, _ history: HistoryWriter
    ) throws {
        guard let products = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent() else {
            throw NotStarted(description: "The folder of this executable is not known.")
        }
        (self.options, self.folder, self.secrets, self.scripts, self.broker) =
            (options, folder, secrets, scripts, broker)
        databasePort = port + 3
        let first = port + 4
        let settings = ServiceSettings(
            options: options, secrets: secrets, brokerURL: broker.url,
            databaseURL: Self.databaseURL(options, folder, port: port + 3), emulatorPort: first)
        func service(_ product: String, _ name: String, _ port: Int, _ environment: [String: String]) -> ServiceProcess
        {
            ServiceProcess(
                name, executable: products.appending(path: product), port: port, environment: environment,
                folder: folder, history: history)
        }
        emulator = service("hub-emulator", "hub-emulator", first, settings.emulator)
        retrievals = [service("retrieval", "retrieval-1", first + 1, settings.retrieval)]
        ingests = (0..<options.ingests).map { service("ingest", "ingest-\($0 + 1)", first + 2 + $0, settings.ingest) }
        dispatchers = (0..<options.dispatchers).map {
            service("dispatcher", "dispatcher-\($0 + 1)", first + 2 + options.ingests + $0, settings.dispatcher)
        }
        http = HTTP(connections: max(32, options.inFlight))
    }

    private static func databaseURL(_ options: ChaosOptions, _ folder: RunFolder, port: Int) -> String {
        switch options.database {
        case .postgres: "postgres://securepush@127.0.0.1:\(port)/securepush"
        case .sqlite: "sqlite:\(folder.sqlite.path)/securepush.sqlite"
        }
    }

    var databaseURL: String { Self.databaseURL(options, folder, port: databasePort) }

    var all: [ServiceProcess] { [emulator] + ingests + retrievals + dispatchers }

    private func startServices() async throws {
        // The first that opens the store makes its schema; the others find it.
        for service in all {
            try service.start()
            guard await http.awaitSuccess(port: service.port, "/readyz", within: .seconds(60)) else {
                for service in all { await service.kill() }
                throw NotStarted(description: "\(service.name) did not become ready; see \(folder.logs.path).")
            }
        }
    }

    /// Ends everything: services by SIGTERM, who takes work first and what they work with last.
    func end() async {
        for service in all { service.send(SIGCONT) }
        for group in [ingests, retrievals, dispatchers, [emulator]] {
            await withTaskGroup(of: Void.self) { tasks in
                for service in group { tasks.addTask { await service.terminate() } }
            }
        }
        await http.close()
        await Self.endServers(broker, scripts, folder, options)
    }

    private static func endServers(
        _ broker: any Broker, _ scripts: Scripts, _ folder: RunFolder, _ options: ChaosOptions
    ) async {
        await broker.stop()
        if options.database == .postgres {
            _ = try? await scripts.run("postgres.sh", ["stop", folder.postgres.path])
        }
    }
}
