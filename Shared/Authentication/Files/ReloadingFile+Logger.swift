internal import Logging
internal import SecurePushCore

extension ReloadingFile {
    /// A file of credentials. A changed version that cannot be used is logged, read again every second, and denies
    /// access after a minute; a file that is gone denies it at once.
    convenience init(
        credentials path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        let report: @Sendable (FileError) -> Void = { error in
            let consequence =
                error.code == .missing
                ? "A file of credentials is gone; access by it is denied"
                : "A changed file of credentials cannot be used; access by it is denied after a minute"
            logger.error(
                "\(consequence)", metadata: ["path": "\(error.path)", "error": "\(error.message)"])
        }
        try self.init(path: path, whileUnusable: .denies, now: now, report: report, parse: parse)
    }
}

extension AuthenticationError {
    /// 503 and not 401: the caller's credentials may be good, and a device must not throw them away.
    static var credentialsUnusable: AuthenticationError {
        AuthenticationError(.unavailable, "Credentials cannot be checked now.")
    }
}
