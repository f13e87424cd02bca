import Foundations

/// Times as people say them, for narrow tables.
enum RelativeTime {
    /// `5m ago`, `in 3d`, `now`. A text that is not a time stays as it is.
    static func text(_ time: String, now: Timestamp = .now) -> String {
        guard let time = Timestamp(rfc3339: time) else { return time.oneLine }
        let seconds = (time - now).components.seconds
        let amount = amount(seconds.magnitude)
        if seconds == 0 { return "now" }
        return seconds < 0 ? "\(amount) ago" : "in \(amount)"
    }

    /// In whole units, the largest of which there are at least two.
    private static func amount(_ seconds: UInt64) -> String {
        switch seconds {
        case ..<120: "\(seconds)s"
        case ..<7200: "\(seconds / 60)m"
        case ..<172_800: "\(seconds / 3600)h"
        default: "\(seconds / 86_400)d"
        }
    }
}
