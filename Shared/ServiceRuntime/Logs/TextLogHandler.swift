import Foundations
import Logging

/// Writes lines for people to standard error: `2026-11-21T08:30:00.000Z info     Listening port=8080`.
///
/// Values with spaces, quotes or control characters are quoted and escaped, so that no value can forge a line. So are
/// characters that nobody sees, or that turn the direction of writing.
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

    private static func withoutControls(_ text: String) -> String { needsEscapes(text) ? escaped(text) : text }

    private static func quoted(_ text: String) -> String {
        let needsQuotes = text.isEmpty || text.utf8.contains { $0 == 0x20 || $0 == 0x22 } || needsEscapes(text)
        return needsQuotes ? "\"\(escaped(text))\"" : text
    }

    private static func needsEscapes(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 } || !OutsideText.areSame(OutsideText.visible(text), text)
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            case "\t": escaped += "\\t"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return OutsideText.visible(escaped)
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
