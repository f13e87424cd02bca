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
