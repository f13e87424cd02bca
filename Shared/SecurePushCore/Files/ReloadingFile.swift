import Synchronization

/// The value that a file holds, read again whenever the file changes.
///
/// The first reading must succeed. A later version that cannot be read or used is reported once, read again every
/// second, and meanwhile the last value stays: for as long as it takes, or, for credentials, for a minute at most.
public final class ReloadingFile<Value: Sendable>: Sendable {
    /// What holds while the file cannot be used.
    public enum WhileUnusable: Sendable {
        /// The last value stays in use.
        case keepsLast
        /// ``usable`` is `nil` once the last value has not been confirmed for a minute, and at once when there is no
        /// file: a value that may have been withdrawn lets nobody in.
        case denies
    }

    private struct State {
        var value: Value
        /// The version of the file that `value` came from.
        var signature: FileSignature
        /// When the file was last seen to be the one that `value` came from.
        var confirmed: ContinuousClock.Instant
        var nextCheck: ContinuousClock.Instant
        var failure: Failure?
    }

    /// The last try to read a changed file, which failed.
    private struct Failure {
        /// `nil`: there was no file.
        var signature: FileSignature?
        var error: FileError
        /// Until then the same version is not read again.
        var nextTry: ContinuousClock.Instant
    }

    public let path: String
    private let whileUnusable: WhileUnusable
    private let state: Mutex<State>
    private let parse: @Sendable (String) throws -> Value
    private let report: @Sendable (FileError) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant

    /// How long a look at the file holds.
    private static var checkInterval: Duration { .seconds(1) }
    /// How long a file may be unusable before ``lastingProblem`` tells, and ``WhileUnusable/denies`` denies.
    public static var patience: Duration { .seconds(60) }

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: the file, absolute or relative to the working folder.
    ///   - whileUnusable: what ``usable`` gives while a later version cannot be used.
    ///   - now: the clock; tests bring their own.
    ///   - report: called when a changed file cannot be used, once for each change, on the thread that found it.
    ///   - parse: makes the value of the file's text; what it throws is shown to the operator and must hold no secret.
    /// - Throws: ``FileError`` when the file is missing, unreadable or malformed.
    public init(
        path: String, whileUnusable: WhileUnusable = .keepsLast,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        report: @escaping @Sendable (FileError) -> Void = { _ in },
        parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        let (value, signature) = try ReloadingFile.read(path, parse)
        self.path = path
        self.whileUnusable = whileUnusable
        self.parse = parse
        self.report = report
        self.now = now
        let time = now()
        state = Mutex(
            State(
                value: value, signature: signature, confirmed: time, nextCheck: time + ReloadingFile.checkInterval))
    }

    /// Whether the last value stays in use for as long as the file cannot be used.
    public var lastStaysInUse: Bool {
        if case .keepsLast = whileUnusable { true } else { false }
    }

    /// The last value that the file held; the file is looked at once a second at most.
    public var current: Value { look(isForced: false).value }

    /// The last value that the file held, after a look at it in any case.
    public func refreshed() -> Value { look(isForced: true).value }

    /// ``current``, or `nil` while the file cannot be used and that denies access.
    public var usable: Value? { allowed(look(isForced: false)) }

    /// ``usable`` after a look at the file in any case.
    public func refreshedUsable() -> Value? { allowed(look(isForced: true)) }

    /// Why the file cannot be used: when there is none at once, else when it has been so for a minute.
    public var lastingProblem: FileError? {
        let seen = look(isForced: false)
        return seen.isLasting ? seen.problem : nil
    }

    /// Reads the file now; why it cannot be used, if it cannot.
    public func problemAfterReload() -> FileError? {
        state.withLock { $0.failure?.nextTry = now() }
        return look(isForced: true).problem
    }

    /// What a look at the file showed.
    private struct Sight {
        var value: Value
        var problem: FileError?
        /// Whether the problem has lasted long enough to count.
        var isLasting = false
    }

    private func allowed(_ seen: Sight) -> Value? {
        guard case .denies = whileUnusable, seen.isLasting else { return seen.value }
        return nil
    }

    private func look(isForced: Bool) -> Sight {
        let time = now()
        let (seen, news) = state.withLock { state -> (Sight, FileError?) in
            var news: FileError?
            if isForced || time >= state.nextCheck {
                state.nextCheck = time + ReloadingFile.checkInterval
                news = reread(&state, at: time)
            }
            guard let problem = state.failure?.error else { return (Sight(value: state.value), nil) }
            let isLasting = problem.code == .missing || time - state.confirmed >= ReloadingFile.patience
            return (Sight(value: state.value, problem: problem, isLasting: isLasting), news)
        }
        if let news { report(news) }
        return seen
    }

    /// Reads the file if it is not the version that the value came from; returns a problem that is new.
    private func reread(_ state: inout State, at time: ContinuousClock.Instant) -> FileError? {
        let signature = FileSignature(path: path)
        if signature == state.signature {
            state.confirmed = time
            state.failure = nil
            return nil
        }
        // A version that failed is tried again, for the cause may be outside the file, such as too many open files.
        if let failure = state.failure, failure.signature == signature, time < failure.nextTry { return nil }
        do throws(FileError) {
            let (value, signature) = try ReloadingFile.read(path, parse)
            state.value = value
            state.signature = signature
            state.confirmed = time
            state.failure = nil
            return nil
        } catch {
            let isKnown = state.failure.map { $0.signature == signature && $0.error == error } ?? false
            state.failure = Failure(
                signature: signature, error: error, nextTry: time + ReloadingFile.checkInterval)
            return isKnown ? nil : error
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
