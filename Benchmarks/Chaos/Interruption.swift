import Dispatch

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs a body whose task is cancelled by Ctrl-C and SIGTERM, so that it can end what it started.
func withInterruption(_ body: @escaping @Sendable () async -> Void) async {
    let task = Task { await body() }
    let sources = [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { task.cancel() }
        source.resume()
        return source
    }
    await task.value
    for source in sources { source.cancel() }
}
