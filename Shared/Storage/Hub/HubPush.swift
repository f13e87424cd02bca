package import Domain
package import Foundations

/// A push that is stored for a retry. Only the hub interprets its request and body.
package struct HubPush: Sendable, Hashable {
    package var id: NotificationID
    package var lane: HubLaneKey
    package var messageID: String
    /// When the push is due; while a process pushes it, when another process may push it.
    package var dueAt: Timestamp
    /// Identifies the process that pushes it; `nil` while it waits.
    package var claim: Int64?
    /// How often it was tried.
    package var attempt: Int
    /// It is given up at this time.
    package var giveUpAt: Timestamp
    package var request: [UInt8]
    package var body: [UInt8]

    package init(
        id: NotificationID, lane: HubLaneKey, messageID: String, dueAt: Timestamp, claim: Int64? = nil, attempt: Int,
        giveUpAt: Timestamp, request: [UInt8], body: [UInt8]
    ) {
        self.id = id
        self.lane = lane
        self.messageID = messageID
        self.dueAt = dueAt
        self.claim = claim
        self.attempt = attempt
        self.giveUpAt = giveUpAt
        self.request = request
        self.body = body
    }
}

/// One platform of one hub.
package struct HubLaneKey: Sendable, Hashable {
    /// The hub's name in lower case.
    package var hub: String
    /// Such as `apple`.
    package var platform: String

    package init(hub: String, platform: String) {
        self.hub = hub
        self.platform = platform
    }
}

extension HubLaneKey {
    /// `HUB/PLATFORM`; no platform has a slash.
    var text: String { "\(hub)/\(platform)" }

    init?(_ text: String) {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        self.init(hub: String(text[..<slash]), platform: String(text[text.utf8.index(after: slash)...]))
    }
}

/// How one try of a stored push ended.
package struct HubPushEnd: Sendable {
    package enum Next: Sendable {
        /// It has ended, with this outcome for its device.
        case outcome(String)
        /// It is tried again at a time.
        case retry(at: Timestamp, attempt: Int)
    }

    package var id: NotificationID
    /// If another process has claimed the push meanwhile, that process decides about the next try.
    package var claim: Int64
    package var messageID: String
    package var platform: String
    package var next: Next

    package init(_ push: HubPush, claim: Int64, _ next: Next) {
        id = push.id
        self.claim = claim
        messageID = push.messageID
        platform = push.lane.platform
        self.next = next
    }
}

/// The number of devices of one platform with one outcome.
package struct HubOutcome: Sendable, Hashable {
    package var platform: String
    /// A word of ASCII letters.
    package var name: String
    package var count: Int

    package init(platform: String, name: String, count: Int) {
        self.platform = platform
        self.name = name
        self.count = count
    }
}

/// The state of a message: of a send, or of a scheduled send.
package struct HubMessage: Sendable, Hashable {
    package var id: String
    package var hub: String
    /// The hub's word, such as `Completed`.
    package var state: String
    package var enqueuedAt: Timestamp
    package var completedAt: Timestamp?
    /// The tag expression as received.
    package var tags: String?
    package var outcomes: [HubOutcome]
    package var body: [UInt8]
    /// When it may be purged.
    package var purgeAt: Timestamp

    package init(
        id: String, hub: String, state: String, enqueuedAt: Timestamp, completedAt: Timestamp? = nil,
        tags: String? = nil, outcomes: [HubOutcome] = [], body: [UInt8], purgeAt: Timestamp
    ) {
        self.id = id
        self.hub = hub
        self.state = state
        self.enqueuedAt = enqueuedAt
        self.completedAt = completedAt
        self.tags = tags
        self.outcomes = outcomes
        self.body = body
        self.purgeAt = purgeAt
    }
}

extension HubMessage {
    /// The outcome of devices whose push is in flight.
    package static let unknown = "Unknown"
    /// The states while pushes are in flight, and afterwards.
    package static let processing = "Processing"
    package static let completed = "Completed"

    /// A push in flight has ended.
    mutating func end(_ platform: String, _ name: String, at time: Timestamp) {
        if let index = outcomes.firstIndex(where: { $0.platform == platform && $0.name == Self.unknown }) {
            outcomes[index].count -= 1
            if outcomes[index].count < 1 { outcomes.remove(at: index) }
        }
        if let index = outcomes.firstIndex(where: { $0.platform == platform && $0.name == name }) {
            outcomes[index].count += 1
        } else {
            outcomes.append(HubOutcome(platform: platform, name: name, count: 1))
        }
        guard state == Self.processing, !outcomes.contains(where: { $0.name == Self.unknown }) else { return }
        (state, completedAt) = (Self.completed, time)
    }

    /// The message with further outcomes. While a push is in flight, it is not completed.
    package func adding(_ others: [HubOutcome]) -> HubMessage {
        var message = self
        for other in others {
            let index = message.outcomes.firstIndex { $0.platform == other.platform && $0.name == other.name }
            if let index { message.outcomes[index].count += other.count } else { message.outcomes.append(other) }
        }
        if message.state == Self.completed, message.outcomes.contains(where: { $0.name == Self.unknown }) {
            (message.state, message.completedAt) = (Self.processing, nil)
        }
        return message
    }

    /// The outcomes with one count for each platform and name.
    package static func sum(_ outcomes: [HubOutcome]) -> [HubOutcome] {
        if outcomes.count < 2 { return outcomes }
        return HubMessage(id: "", hub: "", state: "", enqueuedAt: .now, body: [], purgeAt: .now).adding(outcomes)
            .outcomes
    }

    static func encode(_ outcomes: [HubOutcome]) -> String {
        outcomes.map { "\($0.platform) \($0.name) \($0.count)" }.joined(separator: "\n")
    }

    /// Ignores lines that this program did not write, because they must not stop the pushes of the message.
    static func decode(_ text: String) -> [HubOutcome] {
        text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "))
            guard fields.count == 3, let count = Int32(String(Substring(fields[2]))) else { return nil }
            return HubOutcome(
                platform: String(Substring(fields[0])), name: String(Substring(fields[1])), count: Int(count))
        }
    }
}
