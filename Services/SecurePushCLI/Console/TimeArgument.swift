import ArgumentParser
import SecurePushCore

/// A time on the command line, as RFC 3339: `2026-11-21T08:30:00Z`.
struct TimeArgument: ExpressibleByArgument, Sendable, Equatable {
    var time: Timestamp

    init?(argument: String) {
        guard let time = Timestamp(rfc3339: argument) else { return nil }
        self.time = time
    }
}
