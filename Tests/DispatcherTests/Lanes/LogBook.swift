import Logging
import Synchronization

/// Keeps the lines that a logger writes.
final class LogBook: Sendable {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var metadata: Logger.Metadata
    }

    private let box = Mutex<[Line]>([])

    var lines: [Line] { box.withLock { $0 } }
    var logger: Logger { Logger(label: "test", factory: { _ in Handler(book: self) }) }

    fileprivate func add(_ line: Line) { box.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            book.add(Line(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:]))
        }
    }
}
