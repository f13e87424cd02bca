import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Quits at once at the second signal: the first one drains, and an operator who sends another has no patience left.
///
/// The first service of the group, so the last to be stopped.
struct SecondSignalService: Service {
    let signals: [UnixSignal]
    /// What to do at the second signal; tests give their own.
    var quit: @Sendable (UnixSignal) -> Void = { signal in _exit(128 + signal.rawValue) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var count = 0
            for await signal in await UnixSignalsSequence(trapping: signals) {
                count += 1
                if count == 2 { quit(signal) }
            }
        }
    }
}
