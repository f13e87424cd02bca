import ArgumentParser
import Foundation
import Foundations
import Messaging
import NotificationHubs
import OutgoingHTTP
import ServiceConfiguration

/// The services' settings in the environment. An empty value counts as not set.
struct Settings: Sendable {
    /// By the short name: the value of `SECUREPUSH_DATABASE_URL` is that of `DATABASE_URL`.
    let all: [String: String]
    /// What the settings are read from where a service's own reader reads them: it names what is set.
    private let environment: SettingsEnvironment

    /// Like the services, reads `DATABASE_URL_FILE` and `AMQP_URL_FILE` if the URLs themselves are not set.
    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = SettingsEnvironment(environment)
        var all = self.environment.values
        for key in [ConfigurationKeys.databaseURL.name, ConfigurationKeys.amqpURL.name] {
            guard all[key] == nil, let path = all[key + "_FILE"] else { continue }
            all[key + "_FILE"] = nil
            // Not a URL: the command fails instead of using the default.
            let text = (try? FileContent(path: path, maxBytes: 65_536))?.trimmedText ?? ""
            let isUsable = !text.isEmpty && OutsideText.controlCharacter(in: text) == nil
            all[key] = isUsable ? text : Self.unreadable + path
        }
        self.all = all
    }

    /// Stands before the path of a file that holds no URL.
    private static let unreadable = "unreadable:"

    /// - Throws: ``CommandFailure`` with code `configuration` that names `KEY_FILE`, if the URL should have come from
    ///   that file and could not be read.
    static func requireReadable(_ url: String, of key: String) throws {
        guard url.hasPrefix(unreadable) else { return }
        let text = try SecretFile.read(String(url.dropFirst(unreadable.count)), of: key + "_FILE")
        _ = try SecretText.line(text, of: key + "_FILE", .configuration)
    }

    subscript(key: String) -> String? { all[key] }

    /// The value of a secret, or the contents of the file that `KEY_FILE` names.
    ///
    /// - Parameter check: gets the value, and the variable that it comes from.
    /// - Throws: ``CommandFailure`` with code `configuration` if both are set or the file cannot be read; and what the
    ///   check throws.
    func secret(_ key: String, _ check: (String, String) throws -> String) throws -> String? {
        guard let path = self[key + "_FILE"] else { return try self[key].map { try check($0, key) } }
        guard self[key] == nil else {
            throw CommandFailure(.configuration, "\(key) and \(key)_FILE are both set.", hint: "Set one of them.")
        }
        return try check(try SecretFile.read(path, of: key + "_FILE"), key + "_FILE")
    }

    /// `DATABASE_URL`, or the default of the services.
    var databaseURL: String { self["DATABASE_URL"] ?? ConfigurationKeys.databaseURL.fallback }

    /// The path of a file: the value of the flag, otherwise the setting.
    ///
    /// - Parameter what: the file, for the message, such as "users file".
    /// - Throws: ``CommandFailure`` with code `configuration` if neither is given.
    func path(_ value: String?, _ key: String, flag: String, _ what: String) throws -> String {
        if let value = value.map({ OutsideText.trimmed($0) }), !value.isEmpty { return value }
        if let path = self[key] { return path }
        throw CommandFailure(.configuration, "No \(what) is given.", hint: "Give \(flag) FILE, or set \(key).")
    }

    /// The broker's settings. The URL can hold a password, so it comes from the environment only.
    func messaging() throws -> MessagingConfiguration {
        try Self.requireReadable(self["AMQP_URL"] ?? "", of: "AMQP_URL")
        var reader = ConfigurationReader(environment: environment)
        let configuration = MessagingConfiguration.read(&reader, prefetch: 1, connectionName: "securepush dead-letters")
        guard let configuration else {
            throw CommandFailure(
                .configuration, "The settings of the broker are invalid.", details: reader.issues.map(\.description))
        }
        return configuration
    }

    func hub() throws -> NotificationHubConfiguration {
        guard self["HUB_CONNECTION_STRING"] != nil || self["HUB_CONNECTION_STRING_FILE"] != nil else {
            throw CommandFailure(
                .configuration, "Neither HUB_CONNECTION_STRING nor HUB_CONNECTION_STRING_FILE is set.",
                hint: "Copy the connection string from the hub's page in the Azure portal.")
        }
        var reader = ConfigurationReader(environment: environment)
        guard let hub = HubSettings.read(&reader)?.hubs.first else {
            throw CommandFailure(.configuration, reader.issues.map { "\($0)" }.joined(separator: "; "))
        }
        return hub
    }

    /// The hub, or the hubs of `HUB_POOL_FILE`.
    func hubs() throws -> HubSettings {
        guard let path = self["HUB_POOL_FILE"] else { return .single(try hub()) }
        for key in ["HUB_CONNECTION_STRING", "HUB_CONNECTION_STRING_FILE", "HUB_NAME"] where self[key] != nil {
            throw CommandFailure(
                .configuration, "HUB_POOL_FILE and \(key) are both set.",
                hint: "Set either the file of several hubs or one hub.")
        }
        return .pool(try CommandFailure.naming("HUB_POOL_FILE") { try hubPool(path) })
    }

    /// The hubs of a file.
    ///
    /// - Throws: ``FileError``, ``CommandFailure``.
    func hubPool(_ path: String) throws -> HubPoolSettings {
        try HubPoolSettings(path: path, insecureHost: self["HUB_INSECURE_HOST"], outgoing: try outgoing())
    }

    /// The proxies and the trusted authorities, as the services read them.
    func outgoing() throws -> OutgoingConfiguration {
        var reader = ConfigurationReader(environment: environment)
        let outgoing = OutgoingConfiguration.read(&reader)
        guard reader.issues.isEmpty else {
            throw CommandFailure(
                .configuration, "The settings of outgoing connections are invalid.",
                details: reader.issues.map(\.description))
        }
        return outgoing
    }

    /// `RETRY_DELAYS` as the services read it.
    func retryDelays() throws -> [Duration] {
        var reader = ConfigurationReader(environment: environment)
        let delays = reader[\.retryDelays]
        guard reader.issues.isEmpty else {
            throw CommandFailure(.configuration, reader.issues.map { "\($0)" }.joined(separator: "; "))
        }
        return delays
    }
}

struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .customLong("database-url"),
        help: ArgumentHelp("sqlite:PATH, or a libpq URI without a password (DATABASE_URL).", valueName: "url"))
    var databaseURL: String?

    /// The database of the flag or the environment; `nil` if neither is given.
    var urlIfGiven: String? { given ?? Settings()["DATABASE_URL"] }

    /// The database of the flag or the environment, otherwise the services' default.
    var url: String { given ?? Settings().databaseURL }

    private var given: String? { databaseURL.map { OutsideText.trimmed($0) } }

    func validate() throws {
        if let given, let problem = ConfigurationReader.pasteProblem(of: given, as: "DATABASE_URL") {
            throw ValidationError("--database-url \(problem).")
        }
    }
}
