import SecurePushCore

/// What a load test does.
struct LoadPlan: Sendable, Equatable {
    static let counts = 1...1_000_000

    /// Notifications to push.
    var count = 1000
    /// Notifications to begin a second; `nil` is as fast as they are taken.
    var rate: Int?
    /// Requests under way at the most, each on a connection of its own.
    var concurrency = 64
    /// Notifications a request.
    var batch = 1
    /// Whether requests go to the batch route, also those of one notification.
    var usesBatchRoute = false
    /// Users who take turns.
    var recipients = 100
    /// The one user, instead of many made up.
    var recipient: String?
    /// Of the payload, in bytes.
    var payloadSize = 100
    var platforms: [String] = []
    /// Of the first recipients, one each.
    var devices = 0
    /// Whether to wait until everything was dispatched, and read by the devices.
    var waits = true
    /// How long nothing may have moved before waiting is given up.
    var drainTimeout = Duration.seconds(60)

    /// The user that a notification goes to: 0 up to ``recipients``.
    func recipientIndex(of notification: Int) -> Int { recipient == nil ? notification % recipients : 0 }

    /// The name of a user.
    func name(ofRecipient index: Int) -> String {
        if let recipient { return recipient }
        let number = String(index + 1)
        return "load-" + String(repeating: "0", count: max(0, 6 - number.count)) + number
    }

    /// How many users there are.
    var recipientCount: Int { recipient == nil ? recipients : 1 }

    /// Whether a notification goes to a user with a device.
    func isForDevice(_ notification: Int) -> Bool { recipientIndex(of: notification) < devices }
}

/// Gives out the requests of a load test, and says when each is to begin. A value without a clock: times are offsets
/// from the beginning of the test.
struct LoadPacer: Sendable, Equatable {
    /// One request.
    struct Ticket: Sendable, Equatable {
        /// Which notifications it carries, numbered from 0.
        var notifications: Range<Int>
        /// When it is to begin; `nil` is at once. Nothing that goes on moves it, so that a request that had to wait for
        /// a slow one before it counts its waiting as well: figures that leave it out flatter the service
        /// ("coordinated omission").
        var start: Duration?
    }

    private let count: Int
    private let batch: Int
    private let rate: Int?
    private var next = 0

    init(_ plan: LoadPlan) {
        count = plan.count
        batch = plan.batch
        rate = plan.rate
    }

    /// How many notifications were given out.
    var given: Int { next }

    /// The next request; `nil` when there is none left.
    mutating func take() -> Ticket? {
        guard next < count else { return nil }
        let range = next..<min(next + batch, count)
        // From the number each time, so that no rounding adds up.
        let start = rate.map { rate in
            let (seconds, rest) = range.lowerBound.quotientAndRemainder(dividingBy: rate)
            return Duration.seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
        }
        next = range.upperBound
        return Ticket(notifications: range, start: start)
    }
}

/// The request bodies of a load test; all but the recipient is prepared once.
struct LoadMessage: Sendable {
    let plan: LoadPlan
    /// What every notification carries, as its readers get it.
    let payload: String
    private let prefix: [UInt8]
    private let suffix: [UInt8]
    /// The one recipient as JSON.
    private let recipient: [UInt8]?

    /// - Parameter run: tells this test's payloads from those of another, as far as the payload has room for it.
    init(_ plan: LoadPlan, run: String = String(UInt64.random(in: .min ... .max), radix: 36)) throws {
        self.plan = plan
        let mark = "load-test \(run) "
        payload = String((mark + String(repeating: "x", count: plan.payloadSize)).prefix(plan.payloadSize))
        prefix = Array(#"{"Recipient":"#.utf8)
        var members = #","Payload":"# + (try JSONText.encode(payload))
        if !plan.platforms.isEmpty { members += #","Platforms":"# + (try JSONText.encode(plan.platforms)) }
        suffix = Array((members + "}").utf8)
        recipient = try plan.recipient.map { Array(try JSONText.encode($0).utf8) }
    }

    /// The JSON of one notification, or of one a line.
    func body(_ notifications: Range<Int>, inLines: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(notifications.count * (prefix.count + suffix.count + (recipient?.count ?? 16) + 1))
        for notification in notifications {
            bytes += prefix
            if let recipient {
                bytes += recipient
            } else {
                bytes += "\"\(plan.name(ofRecipient: plan.recipientIndex(of: notification)))\"".utf8
            }
            bytes += suffix
            if inLines { bytes.append(UInt8(ascii: "\n")) }
        }
        return bytes
    }
}
