import Synchronization

/// The value that a file holds, read again whenever the file changes.
///
/// The first reading must succeed. A later content that cannot be used keeps the value that was there, and is reported
/// once for each change, so that a slip in editing a file of keys does not stop a running service.
public final class ReloadingFile<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        /// The version of the file that `value`, or the last report, came from; `nil` when it was gone.
        var signature: FileSignature?
        var nextCheck: ContinuousClock.Instant
    }

    public let path: String
    private let state: Mutex<State>
    private let parse: @Sendable (String) throws -> Value
    private let report: @Sendable (FileError) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long a look at the file holds.
    private static var checkInterval: Duration { .seconds(1) }

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: the file, absolute or relative to the working folder.
    ///   - now: the clock; tests bring their own.
    ///   - report: called when a changed file cannot be used, once for each change, on the thread that found it.
    ///   - parse: makes the value of the file's text; what it throws is shown to the operator and must hold no secret.
    /// - Throws: ``FileError`` when the file is missing, unreadable or malformed.
    public init(
        path: String, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        report: @escaping @Sendable (FileError) -> Void = { _ in },
        parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        let (value, signature) = try ReloadingFile.read(path, parse)
        self.path = path
        self.parse = parse
        self.report = report
        self.now = now
        state = Mutex(State(value: value, signature: signature, nextCheck: now() + ReloadingFile.checkInterval))
    }

    /// The value of the file as it is now; the file is looked at once a second at most.
    public var current: Value { value(isForced: false) }

    /// The value of the file after a look at it in any case.
    public func refreshed() -> Value { value(isForced: true) }

    private func value(isForced: Bool) -> Value {
        let time = now()
        let (value, problem) = state.withLock { state -> (Value, FileError?) in
            guard isForced || time >= state.nextCheck else { return (state.value, nil) }
            state.nextCheck = time + ReloadingFile.checkInterval
            let problem = reread(&state)
            return (state.value, problem)
        }
        if let problem { report(problem) }
        return value
    }

    /// Reads the file if it is another than last time; returns what is newly wrong with it.
    private func reread(_ state: inout State) -> FileError? {
        let signature = FileSignature(path: path)
        guard signature != state.signature else { return nil }
        state.signature = signature
        do throws(FileError) {
            let (value, signature) = try ReloadingFile.read(path, parse)
            state.value = value
            state.signature = signature
            return nil
        } catch {
            return error
        }
    }

    private static func read(
        _ path: String, _ parse: (String) throws -> Value
    ) throws(FileError) -> (Value, FileSignature) {
        let content = try FileContent(path: path)
        do {
            return (try parse(content.text), content.signature)
        } catch {
            throw FileError(.malformed, path: path, "\(error)")
        }
    }
}
