/// A file or URL of keys or credentials that a running service reads again, as operators watch it: by its setting's
/// name in `/readyz`, in `securepush_file_unusable` and at SIGHUP.
public struct ReloadableSource: Sendable {
    /// The setting that names it, as `AUTH_USERS_FILE`.
    public let key: String
    /// Looks at it, at most once a second. `nil`: usable; else the problem and its consequence, without secrets.
    public let problem: @Sendable () -> String?
    /// Reads it again now.
    ///
    /// - Throws: an error that describes why it cannot be used; holds no secret.
    public let reload: @Sendable () async throws -> Void

    public init(
        key: String, problem: @escaping @Sendable () -> String?, reload: @escaping @Sendable () async throws -> Void
    ) {
        self.key = key
        self.problem = problem
        self.reload = reload
    }
}

extension ReloadingFile {
    /// The file as operators watch it.
    ///
    /// - Parameter key: the setting that names the file.
    public func source(_ key: String) -> ReloadableSource {
        let consequence = lastStaysInUse ? "The content read before stays in use." : "Access is denied."
        return ReloadableSource(
            key: key, problem: { self.lastingProblem.map { "\($0.message) \(consequence)" } },
            reload: { if let problem = self.problemAfterReload() { throw problem } })
    }
}
