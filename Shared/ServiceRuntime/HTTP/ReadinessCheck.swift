public import SecurePushCore

/// One part that a service depends on, asked at `GET /readyz`.
public struct ReadinessCheck: Sendable {
    /// As it appears in the answer: `database`, `amqp`.
    public let name: String
    /// Whether the service is of no use without it; one that is not required is only named as down.
    public let isRequired: Bool
    /// `nil`: fine; else what is wrong, for an operator, without secrets. Has two seconds, then it is cancelled.
    public let check: @Sendable () async -> String?

    public init(name: String, isRequired: Bool = true, check: @escaping @Sendable () async -> String?) {
        self.name = name
        self.isRequired = isRequired
        self.check = check
    }
}

extension ReadinessCheck {
    /// The part `files`: down while one of a service's files of keys or credentials cannot be used, with the reason. It
    /// is not required, because each replica reads the same files, and taking one away would help no client.
    public static func files(_ sources: [ReloadableSource]) -> ReadinessCheck {
        ReadinessCheck(name: "files", isRequired: false) {
            let problems = sources.compactMap { source in source.problem().map { "\(source.key): \($0)" } }
            return problems.isEmpty ? nil : problems.joined(separator: " ")
        }
    }
}

extension ServiceContext {
    /// Makes files of keys and credentials visible to operators: a series of `securepush_file_unusable` for each, and a
    /// reload at SIGHUP. Call it once, while the service is being built.
    ///
    /// - Returns: the check for `GET /readyz`.
    public func watch(_ sources: [ReloadableSource]) -> ReadinessCheck {
        for source in sources {
            metrics.observe("securepush_file_unusable", labels: [("file", source.key)]) {
                source.problem() == nil ? 0 : 1
            }
            onReload(source.key, source.reload)
        }
        return .files(sources)
    }
}
