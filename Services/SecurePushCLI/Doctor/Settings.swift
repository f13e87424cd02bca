import Foundation
import ServiceConfiguration

/// The services' settings, as the environment has them; an empty one is none.
struct Settings: Sendable {
    let all: [String: String]

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) { all = environment }

    /// A setting; of the URLs that a service may have from a file, the file's text.
    subscript(key: String) -> String? {
        if let value = all[key], !value.isEmpty { return value }
        guard ["DATABASE_URL", "AMQP_URL"].contains(key), let path = all[key + "_FILE"], !path.isEmpty else {
            return nil
        }
        return SmallFile.contents(of: path)
    }
}
