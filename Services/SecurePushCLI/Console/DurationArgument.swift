import ArgumentParser
import ServiceConfiguration
import ServiceRuntime

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
