public import ArgumentParser
public import SecurePushCore
import ServiceConfiguration
import ServiceRuntime

/// A notification's ID on the command line.
struct IDArgument: ExpressibleByArgument, Sendable, Hashable {
    var id: NotificationID

    init?(argument: String) {
        guard let id = NotificationID(argument) else { return nil }
        self.id = id
    }
}

/// A time on the command line, as RFC 3339: `2026-11-21T08:30:00Z`.
struct TimeArgument: ExpressibleByArgument, Sendable, Equatable {
    var time: Timestamp

    init?(argument: String) {
        guard let time = Timestamp(rfc3339: argument) else { return nil }
        self.time = time
    }
}

/// A duration on the command line, written as in the services' configuration: `90s`, `15m`, `2h`, `30d`.
struct DurationArgument: ExpressibleByArgument, Sendable, Equatable {
    var duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        // A hundred years is more than any duration here can mean, and leaves sums of dates without overflow.
        guard let duration = Duration(configurationText: argument), duration <= .seconds(36_500 * 86_400) else {
            return nil
        }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.configurationText }
}

extension Presentation: ExpressibleByArgument {}
extension Priority: ExpressibleByArgument {}

extension NotificationStatus: ExpressibleByArgument {}
