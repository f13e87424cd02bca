import Authentication
import Domain
import Foundations
package import Logging
import Messaging
import OutgoingHTTP
import ServiceConfiguration
import ServiceRuntime
import Storage

package struct OperatorConfiguration: Sendable {
    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var messaging: MessagingConfiguration
    /// The platforms to which a notification goes that names none.
    var platforms: [Platform]
    /// The file with the operator's password; `nil` on loopback only.
    var passwordFile: String?
    /// Further host names under which the page answers.
    var allowedHosts: [String]
    var auditLog: String?
    /// The processes that the page shows besides this one.
    var targets: [ProcessKind: [ProcessTarget]]
    /// The authorities that the certificates of these processes are verified with.
    var authorities: TrustedAuthorities

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: 8083)
        let storage = StorageConfiguration.read(&reader)
        let messaging = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "operator")
        auditLog = reader[\.auditLog]
        platforms = reader.platforms()
        passwordFile = reader[\.adminPasswordFile]
        allowedHosts = reader[\.adminAllowedHosts] ?? []
        targets = [
            .ingest: Self.targets(\.ingestURL, &reader), .dispatcher: Self.targets(\.dispatcherURL, &reader),
            .retrieval: Self.targets(\.retrievalURL, &reader), .hub: Self.targets(\.hubURL, &reader),
        ]
        authorities = OutgoingConfiguration.read(&reader).authorities
        if allowedHosts.contains(where: { $0.contains("/") || $0.contains("*") }) {
            reader.note(\.adminAllowedHosts, "must be a list of host names without scheme, path or *")
        }
        if !InsecureLink.isLoopback(reader[\.httpHost]), !reader.isSet(\.adminPasswordFile) {
            reader.note(\.adminPasswordFile, "is needed, since HTTP_HOST is beyond loopback")
        }
        guard var http, let storage, let messaging else { return nil }
        // A few people and their tools. One address cannot take all connections.
        if !reader.isSet(\.httpMaxConnections) { http.limits.maxConnections = 256 }
        if !reader.isSet(\.httpMaxConnectionsPerAddress) { http.limits.maxConnectionsPerAddress = 64 }
        if !reader.isSet(\.httpMaxInFlight) { http.limits.maxInFlight = 32 }
        (self.http, self.storage, self.messaging) = (http, storage, messaging)
    }

    /// Reads the file of the operator's password; `nil` without one.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be used.
    func authenticator(_ logger: Logger) throws -> OperatorAuthenticator? {
        try passwordFile.map { path in
            try ConfigurationKeys.adminPasswordFile.making {
                try OperatorAuthenticator(passwordFile: path, logger: logger)
            }
        }
    }

    private static func targets(
        _ key: KeyPath<ConfigurationKeys, ConfigurationKey<[String]?>>, _ reader: inout ConfigurationReader
    ) -> [ProcessTarget] {
        (reader[key] ?? []).compactMap { text in
            if let target = ProcessTarget(text) { return target }
            // A URL may hold a password, so the text is not repeated.
            reader.note(key, "has an item that is not http:// or https://, a host, and nothing after the port")
            return nil
        }
    }
}

extension OperatorConfiguration: StartDetails {
    package var startDetails: Logger.Metadata {
        ["address": "\(http.address)", "store": "\(storage)", "broker": "\(messaging)"]
    }
}
