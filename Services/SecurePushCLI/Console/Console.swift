import Foundation

/// Where a command writes: data on standard output, messages on standard error.
struct Console: Sendable {
    /// One JSON object a line instead of text.
    let isJSON: Bool
    private let colorsData: Bool
    private let colorsMessages: Bool

    init(_ options: OutputOptions, environment: [String: String] = ProcessInfo.processInfo.environment) {
        isJSON = options.json
        let isWelcome =
            !options.json && !options.noColor && (environment["NO_COLOR"] ?? "").isEmpty
            && environment["TERM"] != "dumb"
        colorsData = isWelcome && isatty(STDOUT_FILENO) == 1
        colorsMessages = isWelcome && isatty(STDERR_FILENO) == 1
    }

    /// A line of data.
    func line(_ text: String) { Console.write(text + "\n", to: .standardOutput) }

    /// A line of data in JSON mode, and of text otherwise.
    func show(_ value: some Encodable, _ text: @autoclosure () -> String) throws {
        line(isJSON ? try JSONText.encode(value) : text())
    }

    /// A message to the person; nothing that a program would read.
    func message(_ text: String) { Console.write(text + "\n", to: .standardError) }

    /// A failure: in JSON mode one object, else the message, its details and what to do, one a line.
    func report(_ failure: CommandFailure) {
        if isJSON, let text = try? JSONText.encode(failure) { return message(text) }
        message(Style.red.apply(to: "error: ", if: colorsMessages) + failure.message)
        for detail in failure.details { message("  " + detail) }
        if let hint = failure.hint { message(hint) }
    }

    /// Text for standard output in a style, where that is a terminal that takes it.
    func styled(_ text: String, _ style: Style) -> String { style.apply(to: text, if: colorsData) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A reader that went away is no failure of ours.
        try? handle.write(contentsOf: Data(text.utf8))
    }
}

/// The few styles in use (ECMA-48, SGR).
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"

    func apply(to text: String, if isOn: Bool) -> String {
        isOn ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// What may be printed of a text that came from elsewhere: control characters but newline and tab are replaced,
    /// so that a payload cannot drive the terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    return isControl && scalar != "\n" && scalar != "\t" ? "\u{FFFD}" : scalar
                }))
    }
}
