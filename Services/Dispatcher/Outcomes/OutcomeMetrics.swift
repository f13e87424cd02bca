import Domain
import Metrics
import ServiceRuntime

/// Counts the requests for outcomes, and the outcomes.
enum OutcomeMetrics {
    /// The hub's words with a label of their own: a peer must not decide how many values a label has.
    private static let known: Set<String> = [
        "Success", "AbandonedNotification", "AbandonedNotificationMessages", "BadChannel", "ChannelDisconnected",
        "ChannelThrottled", "Dropped",
        "ExpiredChannel", "InvalidCredentials", "InvalidNotificationFormat", "InvalidNotificationSize", "NoTargets",
        "PnsCredentialError", "PnsInterfaceError",
        "PnsServerError", "PnsUnavailable", "PnsUnreachable", "Skipped", "Throttled", "UnknownError", "WrongToken",
        "Completed", "NoTargetFound", "Abandoned", "Cancelled", "Canceled",
    ]

    /// Counts the devices of a message, or the message if none is known.
    static func count(_ outcome: MessageOutcome, _ platform: Platform) {
        let counts =
            outcome.counts.isEmpty ? [MessageOutcome.Count(name: outcome.text, devices: 1)] : outcome.counts
        for count in counts {
            let name = known.contains(count.name) ? count.name : "other"
            Metric.hubOutcomes.counter(platform.rawValue, name).increment(by: count.devices)
        }
    }

    /// - Parameter result: `outcome`, `none`, `throttled`, `refused` or `failed`.
    static func countRequest(_ result: String) {
        Metric.outcomeRequests.counter(result).increment()
    }
}
