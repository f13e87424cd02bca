import Logging
import ServiceRuntime
import Synchronization

/// Keeps JSON log lines for a test to look at.
final class LineSink: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func logger(level: Logger.Level) -> Logger {
        Logger(label: "test") { label in
            JSONLogHandler(label: label, service: "test", logLevel: level) { [self] bytes in
                kept.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            }
        }
    }
}
