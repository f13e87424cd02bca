import ArgumentParser
import Foundation
import ServiceRuntime
import UnixSignals

/// How a command prints its results; every command has these flags.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object per line, instead of text.")
    var json = false

    @Flag(name: .customLong("no-color"), help: "Print without colours, as with NO_COLOR set.")
    var noColor = false
}

/// A command that writes to a ``Console`` and reports every error as a ``CommandFailure``.
protocol ConsoleCommand: AsyncParsableCommand {
    var output: OutputOptions { get }

    func run(on console: Console) async throws
}

extension ConsoleCommand {
    mutating func run() async throws {
        let console = Console(output)
        let command = self
        do {
            try SettingNames.check(for: command, console)
            try await CommandAudit.writing(command) {
                if let network = (command as? any NetworkCommand)?.network {
                    try await Network.with(network) { try await command.run(on: console) }
                } else {
                    try await command.run(on: console)
                }
                try StandardOutput.requireWritten()
            }
        } catch let error as ExitCode {
            do { try StandardOutput.requireWritten() } catch let failure as CommandFailure { console.report(failure) }
            throw error
        } catch {
            let failure = CommandFailure(describing: error)
            console.report(failure)
            throw failure.exitCode
        }
    }
}

/// Where a command writes: data to standard output, messages to standard error.
struct Console: Sendable {
    /// One JSON object per line instead of text.
    let isJSON: Bool
    private let colorsData: Bool
    private let colorsMessages: Bool

    init(_ options: OutputOptions) {
        isJSON = options.json
        let allowsColors = !options.json && !options.noColor && Console.allowsEscapes
        colorsData = allowsColors && isatty(STDOUT_FILENO) == 1
        colorsMessages = allowsColors && isatty(STDERR_FILENO) == 1
    }

    /// For a command line that could not be read.
    init(arguments: [String]) {
        var options = OutputOptions()
        options.json = arguments.contains("--json")
        options.noColor = arguments.contains("--no-color")
        self.init(options)
    }

    /// Writes one line of data.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written.
    func line(_ text: String) throws { try StandardOutput.write(Array((text + "\n").utf8)) }

    /// Writes a value as one line of JSON in JSON mode, otherwise the text.
    func show(_ value: some Encodable, _ text: @autoclosure () -> String) throws {
        try line(isJSON ? try JSONCoding.encode(value) : text())
    }

    /// Writes a value that cannot be shown again, such as a key; see ``StandardOutput/writeOnce(_:)``. Call it before
    /// the value is stored.
    func showOnce(_ value: some Encodable, _ text: @autoclosure () -> String) throws {
        try StandardOutput.writeOnce(Array(((isJSON ? try JSONCoding.encode(value) : text()) + "\n").utf8))
    }

    func write(_ data: Data) throws { try StandardOutput.write(Array(data)) }

    /// Shows rows: one object per line with `--json`, else the lines of a table.
    func show<Row: Encodable>(_ rows: [Row], in table: inout Table<Row>) throws {
        if isJSON { return try rows.forEach { try line(JSONCoding.encode($0)) } }
        for text in table.lines(rows) { try line(text) }
    }

    /// Shows a page of a service: its own text with `--json`, else the lines of a table.
    func show<Row>(_ rows: [Row], of body: String, in table: inout Table<Row>) throws {
        if isJSON { return try line(body.droppingLineEnd) }
        for text in table.lines(rows) { try line(text) }
    }

    /// Says that a list is empty, and which of its filters are set.
    func nothing(
        matching what: String, _ filters: KeyValuePairs<String, Bool>, otherwise: String = ""
    ) {
        let given = filters.filter(\.value).map(\.key)
        nothing(
            "No \(what) match."
                + (given.isEmpty ? otherwise : " To see more, leave out \(given.joined(separator: " or "))."))
    }

    /// Says that a list is empty, because silence could be a mistake. `--json` prints the empty list itself.
    func nothing(_ text: String) { if !isJSON { message(text) } }

    /// Writes a message for people. Programs do not need it.
    func message(_ text: String) { StandardOutput.message(text + "\n") }

    /// Writes a failure: one object in JSON mode, otherwise the message, its details and the hint, one per line.
    func report(_ failure: CommandFailure) {
        if isJSON, let text = try? JSONCoding.encode(failure) { return message(text) }
        message(Style.red.apply(to: "error: ", if: colorsMessages) + failure.message.printable)
        for detail in failure.details { message("  " + detail.printable) }
        if let hint = failure.hint { message(hint.printable) }
    }

    /// The text in a style if standard output is a terminal that shows styles.
    func styled(_ text: String, _ style: Style) -> String { style.apply(to: text, if: colorsData) }

    /// Whether standard output is a terminal that can be redrawn.
    static var isTerminal: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Whether the environment allows colours and redrawn lines.
    fileprivate static var allowsEscapes: Bool {
        let environment = ProcessInfo.processInfo.environment
        return (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
}

/// The text styles in use (ECMA-48, SGR).
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

/// One line on standard error that is overwritten again and again. Writes nothing if standard error is not a terminal
/// or `NO_COLOR` is set.
struct ProgressLine: Sendable {
    /// Whether a person sees the line.
    let isShown: Bool

    init() { isShown = isatty(STDERR_FILENO) == 1 && Console.allowsEscapes }

    /// Shows nothing if the console prints JSON.
    init(_ console: Console) { isShown = !console.isJSON && ProgressLine().isShown }

    /// Replaces the line. Cuts off text that does not fit into the terminal, because a second line would stay visible.
    func show(_ text: String) {
        guard isShown else { return }
        StandardOutput.message("\r" + text.prefix(ProgressLine.columns - 1) + "\u{1B}[K")
    }

    /// Shows `1,200 of 5,000` and a word for each hundredth call.
    func count(_ what: String) -> @Sendable (Int, Int) -> Void {
        { done, total in
            if done.isMultiple(of: 100) || done == total { show("\(done.grouped) of \(total.grouped) \(what)") }
        }
    }

    /// Removes the line, before something else is written.
    func clear() {
        if isShown { StandardOutput.message("\r\u{1B}[K") }
    }

    /// The width of the terminal on standard error; 80 if it is unknown.
    private static var columns: Int { Terminal.columns(of: STDERR_FILENO) ?? Terminal.standardColumns }
}

/// The whole terminal on standard output, redrawn repeatedly. Restores the previous content when closed (ECMA-48, and
/// xterm's alternate screen).
struct Screen: Sendable {
    func open() { put("\u{1B}[?1049h\u{1B}[?25l") }
    func close() { put("\u{1B}[?25h\u{1B}[?1049l") }

    /// Shows these lines and nothing else, without flicker.
    func draw(_ lines: [String]) {
        let text = lines.map { $0 + "\u{1B}[K\r\n" }.joined()
        put("\u{1B}[H" + text + "\u{1B}[J")
    }

    /// A failure is reported when the command ends.
    private func put(_ text: String) { try? StandardOutput.write(Array(text.utf8)) }
}

/// How ``withInterruption(after:_:)`` ended.
enum RunEnd: Sendable {
    case done
    case timedOut
    case interrupted
}

/// Runs a closure until it returns, the time limit expires, or SIGINT (Ctrl-C) or SIGTERM arrives.
///
/// - Parameter limit: no time limit if `nil`.
/// - Throws: the closure's errors.
@discardableResult
func withInterruption(
    after limit: Duration? = nil, _ body: @escaping @Sendable () async throws -> Void
) async throws -> RunEnd {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    return try await withThrowingTaskGroup(of: RunEnd?.self) { group in
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
