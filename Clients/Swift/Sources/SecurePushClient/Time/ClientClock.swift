public import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The client's clock. It measures deadlines, delays and ages. Tests inject a simulated one.
public protocol ClientClock: Sendable {
    /// The time of day. It can jump, so only ages of days are measured with it.
    var date: Date { get }

    /// A text that is different after each start of the system: ``uptime`` may begin anew then.
    var bootID: String { get }

    /// Seconds since an arbitrary moment in the past. It never goes backwards. Deadlines are measured with it.
    var uptime: TimeInterval { get }

    /// Waits.
    ///
    /// - Parameter seconds: the time to wait; none for a number that is not positive.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for seconds: TimeInterval) async throws

    /// Waits for a deadline that stops other work. A simulated clock advances in ``sleep(for:)``, where the caller is
    /// idle, but not here.
    ///
    /// - Parameter uptime: the ``uptime`` at which to return.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func waitUntil(uptime: TimeInterval) async throws
}

extension ClientClock {
    /// The system's own.
    public var bootID: String { SystemBoot.id() }

    /// Sleeps for the time that is left.
    public func waitUntil(uptime: TimeInterval) async throws {
        try await sleep(for: uptime - self.uptime)
    }
}

/// The clock of the system.
public struct SystemClientClock: Sendable {
    /// Makes a clock.
    public init() {}
}

extension SystemClientClock: ClientClock {
    /// The time of day of the system. The user or a time server can change it.
    public var date: Date { Date() }

    /// The monotonic clock, which also counts while the device sleeps.
    public var uptime: TimeInterval {
        var time = timespec()
        #if canImport(Darwin)
        clock_gettime(CLOCK_MONOTONIC, &time)
        #else
        clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
    }

    /// Waits, at most one day.
    ///
    /// - Parameter seconds: the time to wait; none for a number that is not positive.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for seconds: TimeInterval) async throws {
        guard seconds > 0 else { return try Task.checkCancellation() }
        // A wait of more than a day is no part of any plan; the bound keeps the conversion from trapping.
        try await Task.sleep(nanoseconds: UInt64(min(seconds, 86_400) * 1e9))
    }
}
