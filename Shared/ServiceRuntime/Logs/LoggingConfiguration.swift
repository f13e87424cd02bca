import Foundations
import Logging
import ServiceConfiguration
import Synchronization

struct LoggingConfiguration: Sendable, Hashable {
    var level: Logger.Level = .info
    var format: LogFormat = .text
    /// ANSI colours, for `text` only.
    var isColoured = false
    /// Whether each request gets a line at level info (`ACCESS_LOG`).
    var logsAccess = false

    /// Reads `LOG_LEVEL`, `LOG_FORMAT` and `ACCESS_LOG`. The default format is `text` on a terminal, else `json`. Lines
    /// on a terminal have colours, unless `NO_COLOR` is set and not empty (no-color.org) or `TERM` is `dumb`.
    static func read(
        _ reader: inout ConfigurationReader, isTerminal: Bool = StandardStream.error.isTerminal
    ) -> LoggingConfiguration {
        LoggingConfiguration(
            level: reader[\.logLevel], format: reader[\.logFormat] ?? (isTerminal ? .text : .json),
            isColoured: isTerminal && reader.environment["NO_COLOR"] == nil && reader.environment["TERM"] != "dumb",
            logsAccess: reader[\.accessLog])
    }

    /// - Parameter write: receives one line with its line end; writes to standard error by default.
    func makeHandler(
        label: String, service: String, write: (@Sendable ([UInt8]) -> Void)? = nil
    ) -> any LogHandler {
        switch format {
        case .text: TextLogHandler(label: label, logLevel: level, isColoured: isColoured, write: write)
        case .json: JSONLogHandler(label: label, service: service, logLevel: level, write: write)
        }
    }

    /// The line about log lines that were dropped. Every level has it: nothing else says that the log is not whole.
    func droppedLine(_ lines: Int, service: String) -> [UInt8] {
        let line = Mutex<[UInt8]>([])
        let handler = makeHandler(label: service, service: service) { bytes in line.withLock { $0 = bytes } }
        var logger = Logger(label: service) { _ in handler }
        logger.logLevel = .warning
        logger.warning(
            "Log lines were dropped because standard error did not take them", metadata: ["lines": "\(lines)"])
        return line.withLock { $0 }
    }
}

/// Metadata keys that more than one file uses.
enum LogKeys {
    /// Hummingbird's key for the request's ID; the log shows it as ``requestIDShown``.
    static let requestID = "hb.request.id"
    static let requestIDShown = "request_id"
    static let errorType = "error.type"
    static let errorMessage = "error.message"
}

extension LogHandler {
    /// The metadata of the event, the logger and the provider, in this precedence, sorted by key. It includes the error
    /// of the event.
    func merged(with event: LogEvent) -> [(key: String, value: Logger.MetadataValue)] {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { own, _ in own } }
        if let given = event.metadata { all.merge(given) { _, given in given } }
        if let error = event.error {
            all[LogKeys.errorType] = "\(String(reflecting: type(of: error)))"
            all[LogKeys.errorMessage] = "\(ErrorText.describe(error))"
        }
        if let identifier = all.removeValue(forKey: LogKeys.requestID) { all[LogKeys.requestIDShown] = identifier }
        return all.sorted { $0.key < $1.key }
    }
}
