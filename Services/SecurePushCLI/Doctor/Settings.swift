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
            all[key] = (try? FileContent(path: path, maxBytes: 65_536))?.trimmedText ?? "unreadable:\(path)"
        }
        self.all = all
    }

    /// A setting; of the URLs that a service may have from a file, the file's text.
    subscript(key: String) -> String? {
        if let value = all[key], !value.isEmpty { return value }
        guard ["DATABASE_URL", "AMQP_URL"].contains(key), let path = all[key + "_FILE"], !path.isEmpty else {
            return nil
        }
        return (try? FileContent(path: path, maxBytes: 65_536))?.trimmedText
    }
}
