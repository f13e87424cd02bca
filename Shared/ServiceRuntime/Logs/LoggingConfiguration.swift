import Logging
import ServiceConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How much is logged, and in what form.
struct LoggingConfiguration: Sendable, Hashable {
    var level: Logger.Level = .info
    var format: LogFormat = .text
    /// ANSI colours, for `text` only.
    var isColoured = false
    /// Logged at start: settings that are taken, and should not be given like this.
    var warnings: [ConfigurationIssue] = []

    /// Reads `LOG_LEVEL` and `LOG_FORMAT`. Without the latter: `text` on a terminal, else `json`. Coloured on a
    /// terminal, unless `NO_COLOR` is set and not empty (no-color.org) or `TERM` is `dumb`.
    static func read(
        _ reader: inout ConfigurationReader, isTerminal: Bool = StandardStream.error.isTerminal
    ) -> LoggingConfiguration {
        let noColour = ConfigurationKey("NO_COLOR", .string, meaning: "Set: no colours")
        let terminal = ConfigurationKey("TERM", .string, meaning: "Kind of the terminal")
        return LoggingConfiguration(
            level: reader.read(ConfigurationKeys.logLevel) ?? .info,
            format: reader.read(ConfigurationKeys.logFormat) ?? (isTerminal ? .text : .json),
            isColoured: isTerminal && !reader.isSet(noColour) && reader.read(terminal) != "dumb")
    }

    func makeHandler(label: String, service: String) -> any LogHandler {
        switch format {
        case .text: TextLogHandler(label: label, logLevel: level, isColoured: isColoured)
        case .json: JSONLogHandler(label: label, service: service, logLevel: level)
        }
    }
}
