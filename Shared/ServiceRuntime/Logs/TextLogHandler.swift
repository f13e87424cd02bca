import Logging
import SecurePushCore

/// Writes lines for people to standard error: `2026-11-21T08:30:00.000Z info     Listening port=8080`.
///
/// Values with spaces, quotes or control characters are quoted and escaped, so that no value can forge a line.
/// ``LogWriter`` writes the lines.
struct TextLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level

    private let label: String
    private let isColoured: Bool
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - isColoured: whether the level has an ANSI colour and the metadata is dimmed.
    ///   - write: receives one line with its line end; writes to standard error by default.
    init(
        label: String, logLevel: Logger.Level = .info, isColoured: Bool = false,
        write: (@Sendable ([UInt8]) -> Void)? = nil
    ) {
        self.label = label
        self.logLevel = logLevel
        self.isColoured = isColoured
        self.write = write ?? { LogWriter.standardError.write($0) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = Timestamp.now.description + " "
        let level = event.level.rawValue
        line += paint(level, event.level.colour) + String(repeating: " ", count: 9 - level.count)
        line += TextLogHandler.withoutControls(event.message.description)
        let pairs = merged(with: event).map { "\($0.key)=\(TextLogHandler.quoted($0.value.description))" }
        if !pairs.isEmpty { line += " " + paint(pairs.joined(separator: " "), "2") }
        line += "\n"
        write(Array(line.utf8))
    }

    private func paint(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    private static func withoutControls(_ text: String) -> String {
        text.unicodeScalars.contains(where: isControl) ? String(text.debugDescription.dropFirst().dropLast()) : text
    }

    private static func quoted(_ text: String) -> String {
        let needsQuotes = text.isEmpty || text.unicodeScalars.contains { isControl($0) || $0 == " " || $0 == "\"" }
        return needsQuotes ? text.debugDescription : text
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
    }
}

extension Logger.Level {
    /// The ANSI colour: grey, none, green, cyan, yellow, red, bold red.
    fileprivate var colour: String {
        switch self {
        case .trace, .debug: "90"
        case .info: "32"
        case .notice: "36"
        case .warning: "33"
        case .error: "31"
        case .critical: "1;31"
        }
    }
}
