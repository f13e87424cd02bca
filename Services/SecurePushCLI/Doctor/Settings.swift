import Foundation

/// The services' settings, as the environment has them; an empty one is none.
struct Settings: Sendable {
    let all: [String: String]

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) { all = environment }

    subscript(key: String) -> String? { all[key].flatMap { $0.isEmpty ? nil : $0 } }
}
