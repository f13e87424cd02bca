package import Logging
import Synchronization

/// A value that is read from a file, and read again whenever the file changes.
///
/// In a service the file is watched (``watch()``): a thread of its own looks at it, and whoever asks for the value gets
/// the last one, without waiting. Otherwise, as in a command, whoever asks looks at the file first, at most once per
/// second.
///
/// The first reading must succeed. A later version that cannot be used is reported once and read again every second.
/// The last value stays in use meanwhile: without limit, or, for credentials, for one minute at most.
package final class ReloadingFile<Value: Sendable>: Sendable {
    /// The policy while the file cannot be used.
    package enum WhileUnusable: Sendable {
        /// The last value stays in use.
        case keepsLast
        /// ``usable`` becomes `nil` after one minute, and at once if there is no file. Credentials that may have been
        /// withdrawn grant nobody access.
        case denies
    }

    package let path: String
    private let whileUnusable: WhileUnusable
    private let isPrivate: Bool
    /// This and `state` are held for a moment only; nothing is read with them.
    private let value: Mutex<Value>
    private let state: Mutex<FileState>
    /// Held while the file is read: by the thread that watches it, or by those who ask for a file that nobody watches.
    private let reading = Mutex<Void>(())
    private let parse: @Sendable (String) throws -> Value
    private let others: @Sendable (Value) -> [FileVersion]
    private let report: @Sendable (FileError) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant

    /// The minimum time between two checks of the file.
    private static var checkInterval: Duration { .seconds(1) }
    /// How long a file may be malformed or unreadable before ``WhileUnusable/denies`` denies access.
    private static var gracePeriod: Duration { .seconds(60) }

    /// Reads the file for the first time.
    ///
    /// - Parameters:
    ///   - path: the file, absolute or relative to the working folder.
    ///   - whileUnusable: the policy for ``usable`` while a later version cannot be used.
    ///   - isPrivate: whether a file that other users can access is malformed; see ``FileContent/privacyProblem``.
    ///   - others: further files that a value was read from. It is read again when one of them changes.
    ///   - now: the clock; tests use another one.
    ///   - report: called once per change that cannot be used, on the thread that found it.
    ///   - parse: makes the value from the text of the file. Operators see its errors, which must not hold secrets.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    package init(
        path: String, whileUnusable: WhileUnusable = .keepsLast, isPrivate: Bool = false,
        others: @escaping @Sendable (Value) -> [FileVersion] = { _ in [] },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        report: @escaping @Sendable (FileError) -> Void = { _ in },
        parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        let (value, signature) = try ReloadingFile.read(path, isPrivate, parse)
        self.path = path
        self.whileUnusable = whileUnusable
        self.isPrivate = isPrivate
        self.others = others
        self.parse = parse
        self.report = report
        self.now = now
        let time = now()
        state = Mutex(
            FileState(
                signature: signature, others: others(value), confirmed: time,
                nextCheck: time + ReloadingFile.checkInterval))
        self.value = Mutex(value)
    }

    /// Whether the last value stays in use without limit while the file cannot be used.
    package var lastStaysInUse: Bool {
        if case .keepsLast = whileUnusable { true } else { false }
    }

    /// From now on a thread of its own looks at the file, more than once per second, as long as this object lives.
    /// After this, no reader of the value waits for the file. A second call changes nothing.
    package func watch() {
        let watch = FileWatch("securepush.file") { [weak self] in self?.look(isForced: true) }
        let isNew = state.withLock { state in
            guard state.watch == nil else { return false }
            state.watch = watch
            return true
        }
        if isNew { watch.start() }
    }

    /// Looks at the file, and waits for that a second at most: credentials that nobody knows may have been added just
    /// now.
    package func check() async {
        if let watch = state.withLock({ $0.watch }) { await watch.look() } else { look(isForced: true) }
    }

    /// The last value. Looks at a file that is not watched at most once per second.
    package var current: Value {
        _ = check(isForced: false)
        return last
    }

    /// The last value. Looks at a file that is not watched first; one that is watched is looked at soon.
    package func refreshed() -> Value {
        _ = check(isForced: true)
        return last
    }

    /// ``current``, or `nil` while the file cannot be used and the policy denies access.
    package var usable: Value? { allowed(check(isForced: false)) }

    /// ``usable``, for the value of ``refreshed()``.
    package func refreshedUsable() -> Value? { allowed(check(isForced: true)) }

    /// Why the file cannot be used; `nil` while it can. With ``WhileUnusable/denies`` a file that is there is reported
    /// when access is denied, after one minute; every other problem is reported at once.
    package var reportedProblem: FileError? {
        let seen = check(isForced: false)
        return lastStaysInUse || seen.isLasting ? seen.problem : nil
    }

    /// The number of versions that were read after the first one.
    package var changes: Int {
        _ = check(isForced: false)
        return state.withLock { $0.changes }
    }

    /// Reads the file now, on this thread, and returns why it cannot be used, if so.
    package func problemAfterReload() -> FileError? {
        retryAtOnce()
        look(isForced: true)
        return lastCheck.problem
    }

    /// Reads the file now, for a service: it must not wait for a file system that does not answer.
    ///
    /// - Throws: ``FileError``.
    package func reload() async throws(FileError) {
        retryAtOnce()
        if let watch = state.withLock({ $0.watch }) {
            guard await watch.look(within: .seconds(10)) else { throw silence }
        } else {
            look(isForced: true)
        }
        if let problem = lastCheck.problem { throw problem }
    }

    private func retryAtOnce() {
        let time = now()
        state.withLock { $0.failure?.nextTry = time }
    }

    private var last: Value { value.withLock { $0 } }

    private func allowed(_ seen: FileCheck) -> Value? {
        guard case .denies = whileUnusable, seen.isLasting else { return last }
        return nil
    }

    private func check(isForced: Bool) -> FileCheck {
        if let watch = state.withLock({ $0.watch }) {
            if isForced { watch.request() }
        } else {
            look(isForced: isForced)
        }
        return lastCheck
    }

    /// The result of the last look at the file.
    private var lastCheck: FileCheck {
        let time = now()
        let (failure, confirmed, isWatched) = state.withLock {
            ($0.failure?.error, $0.confirmed, $0.watch != nil)
        }
        let isOld = time - confirmed >= ReloadingFile.gracePeriod
        // A file is not read for a minute only if a read hangs.
        guard let problem = failure ?? (isWatched && isOld ? silence : nil) else { return FileCheck() }
        return FileCheck(problem: problem, isLasting: problem.code == .missing || isOld)
    }

    private var silence: FileError {
        FileError(.unreadable, path: path, "The file cannot be read: its file system does not answer.")
    }

    /// Looks at the file, and reads it if it is another version than that of the value. Reports a problem that is new.
    private func look(isForced: Bool) {
        let time = now()
        let problem = reading.withLock { _ -> FileError? in
            let known = state.withLock { state -> (FileSignature, [FileVersion], FileFailure?)? in
                guard isForced || time >= state.nextCheck else { return nil }
                state.nextCheck = time + ReloadingFile.checkInterval
                return (state.signature, state.others, state.failure)
            }
            return known.flatMap { reread($0, $1, after: $2, at: time) }
        }
        if let problem { report(problem) }
    }

    /// Returns a problem if it is new.
    private func reread(
        _ known: FileSignature, _ knownOthers: [FileVersion], after failure: FileFailure?,
        at time: ContinuousClock.Instant
    ) -> FileError? {
        let signature = FileSignature(path: path)
        if signature == known, knownOthers.allSatisfy(\.isCurrent) {
            state.withLock { state in
                state.confirmed = time
                state.failure = nil
            }
            return nil
        }
        // A version that failed is tried again, because the cause may be outside the file (too many open files).
        if let failure, failure.signature == signature, time < failure.nextTry { return nil }
        do throws(FileError) {
            let (value, signature) = try ReloadingFile.read(path, isPrivate, parse)
            let others = others(value)
            // The former value is released after the lock: it can be large.
            let former = self.value.withLock { last in
                defer { last = value }
                return last
            }
            withExtendedLifetime(former) {}
            state.withLock { state in
                state.signature = signature
                state.others = others
                state.confirmed = time
                state.failure = nil
                state.changes += 1
            }
            return nil
        } catch {
            let isKnown = failure.map { $0.signature == signature && $0.error == error } ?? false
            let failure = FileFailure(signature: signature, error: error, nextTry: time + ReloadingFile.checkInterval)
            state.withLock { $0.failure = failure }
            return isKnown ? nil : error
        }
    }

    private static func read(
        _ path: String, _ isPrivate: Bool, _ parse: (String) throws -> Value
    ) throws(FileError) -> (Value, FileSignature) {
        let content = try FileContent(path: path)
        if isPrivate, let problem = content.privacyProblem { throw FileError(.unreadable, path: path, problem) }
        do {
            return (try parse(content.text), content.signature)
        } catch {
            throw FileError(.malformed, path: path, ErrorText.describe(error))
        }
    }
}

// These are no members of the generic class: the run-time system would look their types up at each use of the value, which
// took 9,000 instructions.

/// The state of a ``ReloadingFile``, without its value.
private struct FileState {
    /// The version of the file that the value was read from.
    var signature: FileSignature
    /// The versions of the other files that it was read from.
    var others: [FileVersion]
    /// When the file was last checked and was still that version.
    var confirmed: ContinuousClock.Instant
    var nextCheck: ContinuousClock.Instant
    var failure: FileFailure?
    /// The versions that were read after the first one.
    var changes = 0
    /// `nil` while the file is not watched.
    var watch: FileWatch?
}

/// A failed attempt to read a changed file.
private struct FileFailure {
    /// The version of the file; `nil` if there was none.
    var signature: FileSignature?
    var error: FileError
    /// The same version is not read again before this time.
    var nextTry: ContinuousClock.Instant
}

/// The result of a look at a file.
private struct FileCheck {
    var problem: FileError?
    /// Whether the problem has lasted long enough to count.
    var isLasting = false
}

/// A file or URL of keys or credentials that a running service can read again, as operators see it: by the name of its
/// setting in `/readyz`, in `securepush_file_unusable` and at SIGHUP.
package struct ReloadableSource: Sendable {
    /// The setting that names it, for example `AUTH_USERS_FILE`.
    package let key: String
    /// `nil` if it is usable, else the problem and its consequence, without secrets.
    package let problem: @Sendable () -> String?
    /// Reads it again now.
    ///
    /// - Throws: an error that describes why it cannot be used, without secrets.
    package let reload: @Sendable () async throws -> Void
    /// Counts its changes, for the audit log.
    package let changes: @Sendable () -> Int
    /// Looks at it in the background from now on.
    package let watch: @Sendable () -> Void

    package init(
        key: String, problem: @escaping @Sendable () -> String?, reload: @escaping @Sendable () async throws -> Void,
        changes: @escaping @Sendable () -> Int = { 0 }, watch: @escaping @Sendable () -> Void = {}
    ) {
        self.key = key
        self.problem = problem
        self.reload = reload
        self.changes = changes
        self.watch = watch
    }
}

extension ReloadingFile {
    /// A file whose last value stays in use without limit while a later version cannot be used.
    ///
    /// - Parameters:
    ///   - logger: gets `message` as an error for each version that cannot be used.
    /// - Throws: ``FileError`` if the file is missing, unreadable or malformed.
    package convenience init(
        path: String, isPrivate: Bool = false, others: @escaping @Sendable (Value) -> [FileVersion] = { _ in [] },
        logger: Logger, message: Logger.Message, parse: @escaping @Sendable (String) throws -> Value
    ) throws(FileError) {
        try self.init(
            path: path, isPrivate: isPrivate, others: others,
            report: { problem in
                logger.error(message, metadata: ["path": "\(problem.path)", "problem": "\(problem.message)"])
            },
            parse: parse)
    }

    /// The file as operators see it.
    ///
    /// - Parameter key: the setting that names the file.
    package func source(_ key: String) -> ReloadableSource {
        let consequence = lastStaysInUse ? "The last valid content stays in use." : "Access is denied."
        return ReloadableSource(
            key: key, problem: { self.reportedProblem.map { "\($0.message) \(consequence)" } },
            reload: { try await self.reload() }, changes: { self.changes }, watch: { self.watch() })
    }
}
