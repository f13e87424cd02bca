import Foundation

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
