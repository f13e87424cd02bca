import Foundations
package import Logging
import OutgoingHTTP
import ServiceConfiguration
import ServiceRuntime
import Storage

/// The settings of the service `hub` (contract-hub, K1).
package struct HubServiceConfiguration: Sendable {
    /// Of `HTTP_PORT`.
    static let defaultPort = 8085

    var http: HTTPConfiguration
    var storage: StorageConfiguration
    var outgoing: OutgoingConfiguration
    /// The file of the rules.
    var accessFile: String
    /// The file of the push services' credentials.
    var credentialsFile: String
    /// The times of deliveries.
    var delivery = DeliverySettings()
    /// The clients that may use the page and the simulated devices.
    var simulationClients: SimulationClients
    /// The folder of a web app that is served to the same clients; nil: none.
    var webAppFolder: String?

    static let allowSetting = ConfigurationKeys.hubSimulationAllow.name

    /// - Returns: `nil` if the reader noted an issue.
    init?(_ reader: inout ConfigurationReader) {
        let http = HTTPConfiguration.read(&reader, defaultPort: Self.defaultPort, isAPI: true)
        let storage = StorageConfiguration.read(&reader)
        outgoing = OutgoingConfiguration.read(&reader)
        accessFile = reader.require(\.hubAccessFile) ?? ""
        credentialsFile = reader.require(\.pushCredentialsFile) ?? ""
        delivery.acceptTimeout = reader[\.hubAcceptTimeout]
        delivery.retryFor = reader[\.hubRetryFor]
        webAppFolder = reader[EmulatorConfiguration.webAppKey]
        simulationClients = SimulationClients(reader[\.hubSimulationAllow] ?? [])
        if simulationClients.hosts.contains(where: { $0.contains("/") || $0.contains("*") }) {
            reader.note(\.hubSimulationAllow, "must be none, or a list of addresses, CIDR blocks and host names")
        }
        guard let http, let storage else { return nil }
        (self.http, self.storage) = (http, storage)
        simulationClients.proxies = http.limits.trustedProxies
    }
}

extension HubServiceConfiguration: StartDetails {
    package var startDetails: Logger.Metadata {
        ["address": "\(http.address)", "store": "\(storage)", "access_file": "\(accessFile)"]
    }
}
