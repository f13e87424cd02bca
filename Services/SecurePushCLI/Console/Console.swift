import ArgumentParser
import Foundation
import UnixSignals

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

/// How a command shows what it has to say; every command has these.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object a line, instead of text.")
    var json = false

    @Flag(name: .customLong("no-color"), help: "No colours, as with NO_COLOR set.")
    var noColor = false
}

/// A command that writes to a ``Console`` and ends in a ``CommandFailure`` when it fails.
protocol ConsoleCommand: AsyncParsableCommand {
    var output: OutputOptions { get }

    func run(on console: Console) async throws
}

extension ConsoleCommand {
    mutating func run() async throws {
        let console = Console(output)
        do {
            try await run(on: console)
        } catch let error as ExitCode {
            throw error
        } catch {
            let failure = CommandFailure(describing: error)
            console.report(failure)
            throw failure.exitCode
        }
    }
}

/// Runs something until it is done, a time is up, or Ctrl-C asks for the end.
enum Deadline {
    enum End: Sendable {
        case done
        case timedOut
        case interrupted
    }

    static func run(_ limit: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws -> End {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        return try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask {
                try await body()
                return .done
            }
            group.addTask {
                for await _ in signals { return .interrupted }
                return nil
            }
            if let limit {
                group.addTask {
                    try await Task.sleep(for: limit)
                    return .timedOut
                }
            }
            defer { group.cancelAll() }
            while let end = try await group.next() { if let end { return end } }
            return .done
        }
    }
}

/// One line on standard error that is written over again and again; nothing where that is no terminal, or where
/// `NO_COLOR` asks for plain text.
struct ProgressLine: Sendable {
    /// Whether a person sees it.
    let isShown: Bool

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        isShown =
            isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb" && (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// None where the console prints JSON.
    init(_ console: Console) { isShown = !console.isJSON && ProgressLine().isShown }

    /// Replaces the line; what does not fit into the terminal is cut off, for a second line would not be written over.
    func show(_ text: String) {
        guard isShown else { return }
        write("\r" + text.prefix(ProgressLine.columns - 1) + "\u{1B}[K")
    }

    /// Takes the line away, before something else is written.
    func clear() {
        if isShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// The width of the terminal of standard error; 80 when it does not tell.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// The whole terminal of standard output, drawn over and over; gives back what was there before (ECMA-48, and xterm's
/// alternate screen).
struct Screen: Sendable {
    func open() { write("\u{1B}[?1049h\u{1B}[?25l") }
    func close() { write("\u{1B}[?25h\u{1B}[?1049l") }

    /// Shows these lines and nothing else, without a flicker between.
    func draw(_ lines: [String]) {
        write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
    }

    private func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}

extension Console {
    /// Whether a person sees standard output as it is written.
    static var isTerminal: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
}
