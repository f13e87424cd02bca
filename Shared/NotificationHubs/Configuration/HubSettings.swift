package import Foundations
package import OutgoingHTTP
package import ServiceConfiguration

/// The hub of this system, or its hubs.
package enum HubSettings: Sendable {
    /// `HUB_NAME` and `HUB_CONNECTION_STRING`.
    case single(NotificationHubConfiguration)
    /// `HUB_POOL_FILE`.
    case pool(HubPoolSettings)

    /// The hubs when the service started.
    package var hubs: [NotificationHubConfiguration] {
        switch self {
        case .single(let hub): [hub]
        case .pool(let pool): pool.initial.hubs
        }
    }
}

/// Where the hubs of a pool come from, and how they are reached.
package struct HubPoolSettings: Sendable {
    /// `HUB_POOL_FILE`.
    package let path: String
    /// The hubs when the settings were read.
    package let initial: HubPoolConfiguration
    private let insecureHost: String?
    private let outgoing: OutgoingConfiguration

    /// Reads the file.
    ///
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    package init(
        path: String, insecureHost: String? = nil, outgoing: OutgoingConfiguration = .init()
    ) throws(FileError) {
        self.path = path
        self.insecureHost = insecureHost
        self.outgoing = outgoing
        let text = try FileContent(path: path).text
        do throws(SetupError) {
            initial = try HubPoolConfiguration(text, insecureHost: insecureHost) { $0.outgoing = outgoing }
        } catch {
            throw FileError(.malformed, path: path, error.message)
        }
    }

    /// The hubs of another version of the file.
    func read(_ text: String) throws(SetupError) -> HubPoolConfiguration {
        try HubPoolConfiguration(text, insecureHost: insecureHost) { $0.outgoing = outgoing }
    }
}

extension HubSettings {
    /// Reads `HUB_POOL_FILE`, or else the settings of one hub. Both together are an issue.
    ///
    /// - Parameter isRequired: whether it is an issue that neither is set.
    /// - Returns: `nil` without a hub, or if a setting is missing or not valid; the reader holds the issue.
    package static func read(_ reader: inout ConfigurationReader, isRequired: Bool = true) -> HubSettings? {
        let path = reader[\.hubPoolFile]
        guard reader.isSet(\.hubPoolFile) else {
            return NotificationHubConfiguration.read(&reader, isRequired: isRequired).map(HubSettings.single)
        }
        let single = [
            ConfigurationKeys.hubConnectionString, ConfigurationKeys.hubConnectionStringFile, ConfigurationKeys.hubName,
        ]
        for other in single where reader.isSet(other) {
            reader.note(\.hubPoolFile, "is set, and \(other.name) too: set either the file of several hubs or one hub")
        }
        let insecureHost = reader[\.hubInsecureHost]
        let outgoing = OutgoingConfiguration.read(&reader)
        guard let path else { return nil }
        do throws(FileError) {
            return .pool(try HubPoolSettings(path: path, insecureHost: insecureHost, outgoing: outgoing))
        } catch {
            reader.note(\.hubPoolFile, error.message)
            return nil
        }
    }
}
