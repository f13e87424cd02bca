package import Logging
import Synchronization

/// The lines that were logged.
package struct LogLines: LogHandler {
    private final class Store: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let store = Store()
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.debug

    package init() {}

    package var all: [String] { store.lines.withLock { $0 } }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        store.lines.withLock { $0.append("\(event.level) \(event.message)\(fields)") }
    }
}
