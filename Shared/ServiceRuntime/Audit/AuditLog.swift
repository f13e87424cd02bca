import Dispatch
public import Logging
public import SecurePushCore
import ServiceConfiguration
public import ServiceLifecycle
import Synchronization

/// The audit log of a service (`AUDIT_LOG`): writes lines on a thread of its own, all that wait in one go.
///
/// An answer waits until its lines are on the disk. If they cannot be written, they wait in memory until they can, and
/// requests that need a line are refused meanwhile (``isWritable()``). So no line is lost unless the process ends, and
/// no more lines can wait than requests were in flight. As a service it tries again every second, and writes a line
/// for each change of a watched file.
public final class AuditLog: Service, Sendable {
    private struct State {
        var waiting: [AuditEntry] = []
        var callers: [CheckedContinuation<Void, Never>] = []
        var isWriting = false
        var problem: String?
        var watched: [ReloadableSource] = []
    }

    /// The name of the service, for its lines.
    public let service: String
    private let file: AuditFile
    private let logger: Logger
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "securepush.audit")
    private let log = LastingProblemLog(
        "The audit log cannot be written; requests that need a line get 503", end: "The audit log is written again")

    /// Lines that are written in one go.
    private static let maxLines = 1000

    /// Opens the log and writes the line of the start.
    ///
    /// - Parameter path: `-` is standard output.
    /// - Throws: ``FileError`` if it cannot be written.
    public init(path: String, service: String, logger: Logger) throws {
        self.service = service
        self.logger = logger
        file = try AuditFile(path: path)
        try file.append([AuditEntry(service: service, action: "service.start", id: SecurePushVersion.current)])
    }

    /// Why lines cannot be written; `nil` if the last ones were.
    var problem: String? { state.withLock { $0.problem } }

    /// Writes lines. Returns when they are on the disk, or when that has failed and they wait.
    func record(_ entries: [AuditEntry]) async {
        guard !entries.isEmpty else { return }
        await write { $0.waiting += entries }
    }

    /// Whether lines can be written. Tries to write those that wait.
    func isWritable() async -> Bool {
        if problem != nil { await write { _ in } }
        return problem == nil
    }

    private func write(_ change: (inout State) -> Void) async {
        await withCheckedContinuation { caller in
            let begins = state.withLock { state in
                change(&state)
                state.callers.append(caller)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if begins { queue.async { self.writeAll() } }
        }
    }

    /// Writes until nothing waits, or until a write fails.
    private func writeAll() {
        while true {
            let (entries, callers) = state.withLock { state in
                // The rest of the lines is the next part, and everybody waits for it.
                let isAll = state.waiting.count <= Self.maxLines
                defer { if isAll { state.callers = [] } }
                return (Array(state.waiting.prefix(Self.maxLines)), isAll ? state.callers : [])
            }
            var failure: FileError?
            do throws(FileError) { try file.append(entries) } catch { failure = error }
            let (isEnd, given) = state.withLock { state in
                state.problem = failure?.message
                if failure == nil { state.waiting.removeFirst(entries.count) }
                // After a failure everybody has had an attempt. Those who come next make another one.
                let given = failure == nil ? [] : state.callers
                if failure != nil { state.callers = [] }
                state.isWriting = failure == nil && !(state.waiting.isEmpty && state.callers.isEmpty)
                return (!state.isWriting, given)
            }
            if let failure { log.failed(failure.message, to: logger) } else { log.succeeded(to: logger) }
            for caller in callers + given { caller.resume() }
            if isEnd { return }
        }
    }

    /// Shows the log as operators see files.
    var source: ReloadableSource {
        ReloadableSource(
            key: ConfigurationKeys.auditLog.name,
            problem: { self.problem.map { "\($0) Requests that need a line are refused." } }, reload: {})
    }

    /// Writes a line whenever one of these files changes.
    func watch(_ sources: [ReloadableSource]) { state.withLock { $0.watched += sources } }

    /// Tries again to write, and looks for changes of the watched files, until the service stops.
    public func run() async throws {
        let watched = state.withLock { $0.watched }
        await cancelWhenGracefulShutdown {
            var counts = watched.map { $0.changes() }
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                _ = await self.isWritable()
                let now = watched.map { $0.changes() }
                let changed = zip(watched, zip(counts, now)).filter { $1.0 != $1.1 }.map(\.0.key)
                counts = now
                await self.record(
                    changed.map { AuditEntry(service: self.service, action: "key.change", id: $0) })
            }
        }
    }
}

extension ServiceContext {
    /// This context with the audit log of a path; the same one without a path.
    ///
    /// - Throws: ``ConfigurationError`` if the log cannot be written.
    public func auditing(to path: String?) throws -> ServiceContext {
        guard let path else { return self }
        var context = self
        context.audit = try ConfigurationKeys.auditLog.making {
            try AuditLog(path: path, service: name, logger: logger)
        }
        return context
    }
}
