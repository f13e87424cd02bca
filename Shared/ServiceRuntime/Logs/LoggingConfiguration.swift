import Logging
import SecurePushCore
import ServiceConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The level and format of the log.
struct LoggingConfiguration: Sendable, Hashable {
    var level: Logger.Level = .info
    var format: LogFormat = .text
    /// ANSI colours, for `text` only.
    var isColoured = false
    /// Whether each request gets a line at level info (`ACCESS_LOG`).
    var logsAccess = false
    /// Logged at start: settings that are valid but should not be given in this way.
    var warnings: [ConfigurationIssue] = []

    /// Reads `LOG_LEVEL`, `LOG_FORMAT` and `ACCESS_LOG`. The default format is `text` on a terminal, else `json`. Lines
    /// on a terminal have colours, unless `NO_COLOR` is set and not empty (no-color.org) or `TERM` is `dumb`.
    static func read(
        _ reader: inout ConfigurationReader, isTerminal: Bool = StandardStream.error.isTerminal
    ) -> LoggingConfiguration {
        let noColour = ConfigurationKey("NO_COLOR", .string, meaning: "Set for lines without colours")
        let terminal = ConfigurationKey("TERM", .string, meaning: "Kind of the terminal")
        return LoggingConfiguration(
            level: reader.read(ConfigurationKeys.logLevel) ?? .info,
            format: reader.read(ConfigurationKeys.logFormat) ?? (isTerminal ? .text : .json),
            isColoured: isTerminal && !reader.isSet(noColour) && reader.read(terminal) != "dumb",
            logsAccess: reader.read(ConfigurationKeys.accessLog) ?? false)
    }

    func makeHandler(label: String, service: String) -> any LogHandler {
        switch format {
        case .text: TextLogHandler(label: label, logLevel: level, isColoured: isColoured)
        case .json: JSONLogHandler(label: label, service: service, logLevel: level)
        }
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

/// Standard output or standard error, written without a buffer.
struct StandardStream: Sendable {
    let descriptor: Int32

    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func write(_ text: String) { write(Array(text.utf8)) }

    /// One `write(2)`, so that lines of several threads and processes do not mix. A short write is continued.
    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
    guard let base else { return 0 }
    return write(descriptor, base, count)
}
