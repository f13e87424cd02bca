struct LoadPlan: Sendable, Equatable {
    var count = 1000
    /// Notifications per second; `nil` for no limit.
    var rate: Int?
    /// Maximum number of concurrent requests, each on its own connection.
    var concurrency = 64
    var batch = 1
    /// Whether to use the batch route, even for one notification.
    var usesBatchRoute = false
    /// Number of simulated users, who take turns.
    var recipients = 100
    /// Send everything to this user instead.
    var recipient: String?
    /// In bytes.
    var payloadSize = 100
    var platforms: [String] = []
    /// The first recipients, up to this number, have one device each.
    var devices = 0
    /// Whether to wait until everything is dispatched, and read by the devices.
    var waits = true
    /// Stop waiting after this time without progress.
    var drainTimeout = Duration.seconds(60)

    /// The index of the user that gets a notification: 0 up to ``recipients``.
    func recipientIndex(of notification: Int) -> Int { recipient == nil ? notification % recipients : 0 }

    func name(ofRecipient index: Int) -> String {
        if let recipient { return recipient }
        let number = String(index + 1)
        return "load-" + String(repeating: "0", count: max(0, 6 - number.count)) + number
    }

    var recipientCount: Int { recipient == nil ? recipients : 1 }

    func isForDevice(_ notification: Int) -> Bool { recipientIndex(of: notification) < devices }
}

/// The schedule of a load test's requests. Has no clock: times are offsets from the start of the test.
struct LoadPacer: Sendable, Equatable {
    struct Ticket: Sendable, Equatable {
        /// The numbers of its notifications, from 0.
        var notifications: Range<Int>
        /// When to send it; `nil` for at once. A slow request does not shift later ones, so the latency of a delayed
        /// request includes the delay. Leaving it out would make the service look faster ("coordinated omission").
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

    /// The next request; `nil` if all were handed out.
    mutating func take() -> Ticket? {
        guard next < count else { return nil }
        let range = next..<min(next + batch, count)
        // Computed from the number, so that rounding errors do not add up.
        let start = rate.map { rate in
            let (seconds, rest) = range.lowerBound.quotientAndRemainder(dividingBy: rate)
            return Duration.seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
        }
        next = range.upperBound
        return Ticket(notifications: range, start: start)
    }
}

/// The request bodies of a load test. Everything except the recipient is prepared once.
struct LoadMessage: Sendable {
    let plan: LoadPlan
    /// The payload of every notification.
    let payload: String
    private let prefix: [UInt8]
    private let suffix: [UInt8]
    /// The one recipient as JSON.
    private let recipient: [UInt8]?

    /// - Parameter run: distinguishes the payloads of this test from other tests, if the payload is long enough.
    init(_ plan: LoadPlan, run: String = String(UInt64.random(in: .min ... .max), radix: 36)) throws {
        self.plan = plan
        let mark = "load-test \(run) "
        payload = String((mark + String(repeating: "x", count: plan.payloadSize)).prefix(plan.payloadSize))
        prefix = Array(#"{"Recipient":"#.utf8)
        var members = #","Payload":"# + (try JSONCoding.encode(payload))
        if !plan.platforms.isEmpty { members += #","Platforms":"# + (try JSONCoding.encode(plan.platforms)) }
        suffix = Array((members + "}").utf8)
        recipient = try plan.recipient.map { Array(try JSONCoding.encode($0).utf8) }
    }

    /// The JSON of one notification, or of several, one per line.
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
