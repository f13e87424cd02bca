import Foundations
import Synchronization

/// The value of the header field `Date` (RFC 9110, section 6.6.1), formatted once per second.
final class DateField: Sendable {
    private let newest = Mutex((second: Int64.min, text: ""))

    var current: String {
        let now = Timestamp.now
        return newest.withLock { newest in
            if newest.second != now.seconds { newest = (now.seconds, now.httpDate) }
            return newest.text
        }
    }
}
