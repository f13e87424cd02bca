import Foundations
import Logging
import Synchronization
import Testing

struct LastingProblemLogTests {
    /// Keeps the lines.
    private struct Recorder: LogHandler {
        let lines: Lines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
            lines.kept.withLock { $0.append("\(event.level) \(event.message) \(pairs)") }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
    }

    private final class Lines: Sendable {
        let kept = Mutex<[String]>([])
        let time = Mutex(ContinuousClock.now)

        func take() -> [String] {
            kept.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    @Test func `The beginning and the end are logged and a line a minute between`() {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
        let problem = LastingProblemLog("It fails.", end: "It works.", now: { lines.time.withLock { $0 } })
        problem.succeeded(to: logger)
        #expect(lines.take() == [])
        // Five times a second for two minutes and a half.
        for _ in 0..<750 {
            problem.failed("away", to: logger, metadata: ["task": "sweep"])
            lines.advance(.milliseconds(200))
        }
        #expect(
            lines.take() == [
                "warning It fails. error=away task=sweep",
                "warning It fails. error=away task=sweep unlogged_failures=299",
                "warning It fails. error=away task=sweep unlogged_failures=299",
            ])
        for _ in 0..<2 { problem.succeeded(to: logger) }
        #expect(lines.take() == ["notice It works. failures=750"])
    }

    @Test func `One that comes and goes is not logged every time`() {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
        let problem = LastingProblemLog("It fails.", end: "It works.", now: { lines.time.withLock { $0 } })
        for _ in 0..<100 {
            problem.failed("away", to: logger)
            problem.succeeded(to: logger)
            lines.advance(.milliseconds(200))
        }
        #expect(
            lines.take() == [
                "warning It fails. error=away", "notice It works. failures=1",
                "warning It fails. error=away unlogged_failures=49", "notice It works. failures=1",
            ])
        lines.advance(.seconds(10))
        problem.failed("gone", to: logger)
        #expect(lines.take() == ["warning It fails. error=gone unlogged_failures=49"])
    }
}
