internal import Logging
internal import SecurePushCore

extension ReloadingFile {
    /// A file of credentials; when it has changed and cannot be used, that is logged and what it held last stays.
    convenience init(
        path: String, logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        let report: @Sendable (FileError) -> Void = { error in
            logger.error(
                "A changed file cannot be used; what it held before stays in force",
                metadata: ["path": "\(error.path)", "error": "\(error.message)"])
        }
        try self.init(path: path, now: now, report: report, parse: parse)
    }
}
