import Dispatch
import Foundations
package import Logging
import ServiceConfiguration
import ServiceLifecycle
import Synchronization

/// The audit log of a service (`AUDIT_LOG`): writes lines on a thread of its own, all that wait in one go.
///
/// An answer waits until its lines are on the disk. If they cannot be written, they wait in memory until they can, and
/// requests that need a line are refused meanwhile (``isWritable()``), those too that wait while a write hangs. So no
/// line is lost unless the process ends, and no more lines can wait than those of the requests in flight. As a service
/// it tries again every second, and writes a line for each change of a watched file.
package final class AuditLog: Service, Sendable {
    private struct State {
        var waiting: [AuditEntry] = []
        /// The callers that wait for the end of a write. They get `false` if it takes too long.
        var callers = WaitList<Bool>()
        /// The beginning of the write in progress.
        var writing: ContinuousClock.Instant?
        /// Whether somebody looks how long the write takes.
        var isWatched = false
        /// Why the last write has failed.
        var failure: String?
        var watched: [ReloadableSource] = []
    }

    /// The name of the service, for its lines.
    package let service: String
    private let file: AuditFile
    private let logger: Logger
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "securepush.audit")
    private let clock = DispatchQueue(label: "securepush.audit.clock")
    private let log = LastingProblemLog(
        "The audit log cannot be written; requests that need a line get 503", end: "The audit log is written again")

    /// Lines that are written in one go.
    private static let maxLines = 1000
    /// A write that takes longer counts as failed until it ends.
    private let patience: Duration

    /// Opens the log and writes the line of the start.
    ///
    /// - Parameter path: `-` is standard output.
    /// - Throws: ``FileError`` if it cannot be written.
    package convenience init(path: String, service: String, logger: Logger) throws {
        // Above the time that another process may hold the lock.
        try self.init(file: try AuditFile(path: path), service: service, logger: logger, patience: .seconds(10))
    }

    init(file: AuditFile, service: String, logger: Logger, patience: Duration) throws {
        self.service = service
        self.logger = logger
        self.file = file
        self.patience = patience
        try begin()
    }

    /// Writes the line of the start. A start does not wait for ever either.
    private func begin() throws {
        let entry = AuditEntry(service: service, action: "service.start", id: SecurePushVersion.current)
        let failure = Mutex<FileError?>(nil)
        let writing = DispatchGroup()
        let file = file
        queue.async(group: writing) {
            do throws(FileError) { try file.append([entry]) } catch { failure.withLock { $0 = error } }
        }
        guard writing.wait(timeout: .now() + .milliseconds(Int(patience / .milliseconds(1)))) == .success else {
            throw FileError(.unreadable, path: file.path, stuckMessage)
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private var stuckMessage: String {
        "The disk, or the reader of standard output, has taken no lines for \(patience.components.seconds) s."
    }

    /// Why lines cannot be written; `nil` if the last ones were.
    var problem: String? {
        state.withLock { state in
            isStuck(state) ? stuckMessage : state.failure
        }
    }

    /// Whether a write does not end: a broken disk, or a full pipe that nobody reads.
    private func isStuck(_ state: State) -> Bool { state.writing.map { .now - $0 > patience } ?? false }

    /// Writes lines. Returns when they are on the disk, or when that has failed and they wait.
    ///
    /// - Throws: ``Problem`` 503 if the write hangs, and `CancellationError` if the task ends first. The lines are
    ///   written nevertheless, once that is possible.
    func record(_ entries: [AuditEntry]) async throws {
        guard !entries.isEmpty else { return }
        let hasEnded = await write { $0.waiting += entries }
        try Task.checkCancellation()
        if !hasEnded { throw Self.refusal }
    }

    private static let refusal = Problem.serviceUnavailable("The audit log cannot be written.")

    /// Whether lines can be written. Tries to write those that wait.
    func isWritable() async -> Bool {
        let (isStuck, hasFailed) = state.withLock { (self.isStuck($0), $0.failure != nil) }
        if isStuck { return false }
        if hasFailed { _ = await write { _ in } }
        return problem == nil
    }

    /// Checks that lines can be written.
    ///
    /// - Throws: ``Problem`` 503.
    func check() async throws {
        guard await isWritable() else { throw Self.refusal }
    }

    /// Changes the state, and waits for the end of the write that begins then, or until the task is cancelled.
    ///
    /// - Returns: whether the write has ended, or has failed. It hangs otherwise.
    private func write(_ change: (inout State) -> Void) async -> Bool {
        let hasEnded = try? await state.wait(in: \.callers) { state in
            change(&state)
            if isStuck(state) { return false }
            if state.writing == nil {
                state.writing = .now
                // Its first step is to take the lock, so it finds this caller.
                queue.async { self.writeAll() }
            }
            if !state.isWatched {
                state.isWatched = true
                watchWrite(for: patience)
            }
            return nil
        }
        return hasEnded ?? false
    }

    /// Looks after a time whether the write hangs: nobody waits for it any longer then.
    private func watchWrite(for time: Duration) {
        clock.asyncAfter(deadline: .now() + .milliseconds(Int(time.milliseconds) + 1)) { [weak self] in self?.look() }
    }

    private func look() {
        let (callers, rest) = state.withLock { state -> ([WaitList<Bool>.Waiter], Duration?) in
            guard let begin = state.writing else {
                state.isWatched = false
                return ([], nil)
            }
            let rest = patience - (.now - begin)
            return rest < .zero ? (state.callers.removeAll(), patience) : ([], rest)
        }
        for caller in callers { caller.resume(returning: false) }
        if let rest { watchWrite(for: rest) }
    }

    /// Writes until nothing waits, or until a write fails.
    private func writeAll() {
        while true {
            let (entries, tickets) = state.withLock { state in
                // The rest of the lines is the next part, and everybody waits for it.
                let isAll = state.waiting.count <= Self.maxLines
                return (Array(state.waiting.prefix(Self.maxLines)), isAll ? state.callers.tickets : [])
            }
            var failure: FileError?
            do throws(FileError) { try file.append(entries) } catch { failure = error }
            let (isEnd, callers) = state.withLock { state in
                state.failure = failure?.message
                if failure == nil { state.waiting.removeFirst(entries.count) }
                // After a failure everybody has had an attempt. Those who come next make another one.
                let callers = failure == nil ? state.callers.remove(tickets) : state.callers.removeAll()
                let isEnd = failure != nil || (state.waiting.isEmpty && state.callers.isEmpty)
                state.writing = isEnd ? nil : .now
                return (isEnd, callers)
            }
            if let failure { log.failed(failure.message, to: logger) } else { log.succeeded(to: logger) }
            for caller in callers { caller.resume(returning: true) }
            if isEnd { return }
        }
    }

    /// Shows the log as operators see files.
    var source: ReloadableSource {
        ReloadableSource(
            key: ConfigurationKeys.auditLog.name,
            problem: { self.problem.map { "\($0) Requests that need a line are refused." } }, reload: {})
    }

    /// Writes a line whenever one of these files changes. Two listeners may have the same certificate.
    func watch(_ sources: [ReloadableSource]) {
        state.withLock { state in
            for source in sources where !state.watched.contains(where: { $0.key == source.key }) {
                state.watched.append(source)
            }
        }
    }

    /// Tries again to write, and looks for changes of the watched files, until the service stops.
    package func run() async throws {
        let watched = state.withLock { $0.watched }
        await cancelWhenGracefulShutdown {
            var counts = watched.map { $0.changes() }
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                _ = await self.isWritable()
                let now = watched.map { $0.changes() }
                let changed = zip(watched, zip(counts, now)).filter { $1.0 != $1.1 }.map(\.0.key)
                counts = now
                try? await self.record(
                    changed.map { AuditEntry(service: self.service, action: "key.change", id: $0) })
            }
        }
    }
}

extension ServiceContext {
    /// This context with the audit log of a path; the same one without a path.
    ///
    /// - Throws: ``ConfigurationError`` if the log cannot be written.
    package func auditing(to path: String?) throws -> ServiceContext {
        guard let path else { return self }
        if path == "-", StandardDescriptors.lacksOutput {
            throw ConfigurationError(ConfigurationKeys.auditLog.name, "is -, but standard output is closed")
        }
        var context = self
        context.audit = try ConfigurationKeys.auditLog.making {
            try AuditLog(path: path, service: name, logger: logger)
        }
        return context
    }
}
