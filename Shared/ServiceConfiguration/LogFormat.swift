/// How log lines look.
public enum LogFormat: String, CaseIterable, Sendable {
    /// For people: `time level message key=value`.
    case text
    /// For machines: one JSON object a line, see ``JSONLogHandler``.
    case json
}
