import ArgumentParser
import Foundation

/// Where the ingest service is, and the sender's API key.
struct IngestOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The ingest service (INGEST_URL; http://127.0.0.1:8080).", valueName: "url"))
    var ingestURL: String?

    @Option(
        name: .customLong("api-key-file"),
        help: ArgumentHelp("A file with the API key (else INGEST_API_KEY).", valueName: "file"))
    var apiKeyFile: String?

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "duration"))
    var timeout = DurationArgument(.seconds(30))

    func client(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> APIClient {
        let url = ingestURL ?? environment["INGEST_URL"] ?? "http://127.0.0.1:8080"
        return try APIClient(service: "ingest", url: url, timeout: timeout.duration)
    }

    func credentials(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Credentials {
        if let apiKeyFile { return .bearer(try SecretFile.read(apiKeyFile)) }
        if let key = environment["INGEST_API_KEY"], !key.isEmpty { return .bearer(key) }
        throw CommandFailure(
            .configuration, "There is no API key.",
            hint: "Name its file by --api-key-file, or set INGEST_API_KEY; `securepush api-keys add NAME` makes one.")
    }
}

/// Where the retrieval service is.
struct RetrievalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The retrieval service (RETRIEVAL_URL; http://127.0.0.1:8081).", valueName: "url"))
    var retrievalURL: String?

    func client(
        timeout: Duration = .seconds(30), _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> APIClient {
        let url = retrievalURL ?? environment["RETRIEVAL_URL"] ?? "http://127.0.0.1:8081"
        return try APIClient(service: "retrieval", url: url, timeout: timeout)
    }
}
