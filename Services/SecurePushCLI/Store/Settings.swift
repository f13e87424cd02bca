import Foundation
import ServiceConfiguration

/// The services' settings, as the environment has them; an empty one is none.
struct Settings: Sendable {
    let all: [String: String]

    /// `DATABASE_URL_FILE` and `AMQP_URL_FILE` stand for what the files hold, as for the services.
    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        var all = environment
        for key in [ConfigurationKeys.databaseURL.name, ConfigurationKeys.amqpURL.name] {
            guard all[key, default: ""].isEmpty, let path = all[key + "_FILE"], !path.isEmpty else { continue }
            all[key + "_FILE"] = nil
            // No URL, so that a command fails and does not take the default one.
            all[key] = SmallFile.contents(of: path) ?? "unreadable:\(path)"
        }
        self.all = all
    }

    /// A setting; of the URLs that a service may have from a file, the file's text.
    subscript(key: String) -> String? {
        if let value = all[key], !value.isEmpty { return value }
        guard ["DATABASE_URL", "AMQP_URL"].contains(key), let path = all[key + "_FILE"], !path.isEmpty else {
            return nil
        }
        return SmallFile.contents(of: path)
    }
}

/// A file that a flag or the services' own key names.
enum FileOption {
    static func path(
        _ flag: String?, _ key: String, flagName: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String {
        if let flag, !flag.isEmpty { return flag }
        if let path = environment[key], !path.isEmpty { return path }
        throw CommandFailure(.configuration, "No file is named.", hint: "Give \(flagName) FILE, or set \(key).")
    }
}
