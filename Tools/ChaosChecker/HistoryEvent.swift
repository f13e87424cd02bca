/// One line of a history: what somebody outside the services saw. Times are milliseconds since the Unix epoch.
public enum HistoryEvent: Sendable, Equatable {
    case run(Run)
    case device(Device)
    case send(Send)
    case hub(HubSend)
    case fetch(Fetch)
    case show(Show)
    case hide(Show)
    case revoke(Revoke)
    case nemesis(Nemesis)
    case record(Record)
    case letter(Letter)
    case leak(Leak)
    case gap(Gap)
    case exit(Exit)
    case end(End)

    /// The beginning of a run, with all that it was started with.
    public struct Run: Codable, Sendable, Equatable {
        public var time: Int64
        public var count: Int
        public var platforms: [String]
        /// Explained duplicate sends that are allowed beside 2 % of all: what a short run's kills can amount to.
        public var allowance: Int
        /// The dispatchers' `DISPATCH_WITHDRAW`; `nil` in histories from before there were withdrawals.
        public var withdraw: String?
        public var plan: FaultPlan

        public init(
            time: Int64, count: Int, platforms: [String], allowance: Int = 0, withdraw: String? = nil, plan: FaultPlan
        ) {
            self.time = time
            self.count = count
            self.platforms = platforms
            self.allowance = allowance
            self.withdraw = withdraw
            self.plan = plan
        }
    }

    /// A simulated device that is registered, and live from then on.
    public struct Device: Codable, Sendable, Equatable {
        public var name: String
        public var user: String
        public var platform: String

        public init(name: String, user: String, platform: String) {
            self.name = name
            self.user = user
            self.platform = platform
        }
    }

    /// A step of one request to ingest. The same number is sent under the same idempotency key until it is answered.
    public struct Send: Codable, Sendable, Equatable {
        public enum Phase: String, Codable, Sendable {
            case invoke
            /// 201: the ID is durable.
            case ok
            /// Refused: nothing was stored.
            case fail
            /// No answer, or one that leaves open whether it was stored.
            case unknown
        }
        public var time: Int64
        public var phase: Phase
        public var number: Int
        public var recipient: String
        public var id: String?
        public var status: Int?
        /// How many reminders it asks for; `nil` for none.
        public var reminders: Int?

        public init(
            time: Int64, phase: Phase, number: Int, recipient: String, id: String? = nil, status: Int? = nil,
            reminders: Int? = nil
        ) {
            self.time = time
            self.phase = phase
            self.number = number
            self.recipient = recipient
            self.id = id
            self.status = status
            self.reminders = reminders
        }
    }

    /// The sender revoked a notification: it was answered 204.
    public struct Revoke: Codable, Sendable, Equatable {
        public var time: Int64
        public var id: String

        public init(time: Int64, id: String) {
            self.time = time
            self.id = id
        }
    }

    /// A send that crossed the hub, from the hub's own log.
    public struct HubSend: Codable, Sendable, Equatable {
        public var time: Int64
        public var sequence: Int
        public var platform: String
        /// The notification's ID that the body names; `nil` when it names none.
        public var id: String?
        /// Whether the hub took it, whatever the dispatcher was told.
        public var accepted: Bool
        /// What the dispatcher was answered; `nil` when it got no answer.
        public var status: Int?
        public var fault: String?
        /// The devices that it reached.
        public var devices: [String]
        /// Whether it withdraws the notification; `nil` for a push.
        public var withdraws: Bool?

        public init(
            time: Int64, sequence: Int, platform: String, id: String?, accepted: Bool, status: Int? = nil,
            fault: String? = nil, devices: [String] = [], withdraws: Bool? = nil
        ) {
            self.time = time
            self.sequence = sequence
            self.platform = platform
            self.id = id
            self.accepted = accepted
            self.status = status
            self.fault = fault
            self.devices = devices
            self.withdraws = withdraws
        }
    }

    /// A read of one notification by a user's device.
    public struct Fetch: Codable, Sendable, Equatable {
        public enum Reason: String, Codable, Sendable {
            case push
            case inbox
            /// By a user whose it is not; it must not succeed.
            case probe
        }
        public var time: Int64
        public var device: String
        public var user: String
        public var id: String
        public var reason: Reason
        public var status: Int
        /// The number in the payload that came; `nil` when none came.
        public var number: Int?

        public init(
            time: Int64, device: String, user: String, id: String, reason: Reason, status: Int, number: Int? = nil
        ) {
            self.time = time
            self.device = device
            self.user = user
            self.id = id
            self.reason = reason
            self.status = status
            self.number = number
        }
    }

    /// A device showed a notification's payload to its user, or took it away again.
    public struct Show: Codable, Sendable, Equatable {
        public var time: Int64
        public var device: String
        public var id: String

        public init(time: Int64, device: String, id: String) {
            self.time = time
            self.device = device
            self.id = id
        }
    }
}

extension HistoryEvent: Codable {
    private enum Kind: String, Codable {
        case run, device, send, hub, fetch, show, hide, revoke, nemesis, record, letter, leak, gap, exit, end
    }

    private enum CodingKeys: String, CodingKey {
        case type
    }

    /// An object with `type` beside the members of the event.
    public init(from decoder: any Decoder) throws {
        switch try decoder.container(keyedBy: CodingKeys.self).decode(Kind.self, forKey: .type) {
        case .run: self = .run(try Run(from: decoder))
        case .device: self = .device(try Device(from: decoder))
        case .send: self = .send(try Send(from: decoder))
        case .hub: self = .hub(try HubSend(from: decoder))
        case .fetch: self = .fetch(try Fetch(from: decoder))
        case .show: self = .show(try Show(from: decoder))
        case .hide: self = .hide(try Show(from: decoder))
        case .revoke: self = .revoke(try Revoke(from: decoder))
        case .nemesis: self = .nemesis(try Nemesis(from: decoder))
        case .record: self = .record(try Record(from: decoder))
        case .letter: self = .letter(try Letter(from: decoder))
        case .leak: self = .leak(try Leak(from: decoder))
        case .gap: self = .gap(try Gap(from: decoder))
        case .exit: self = .exit(try Exit(from: decoder))
        case .end: self = .end(try End(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        let (kind, members) = parts
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .type)
        try members.encode(to: encoder)
    }

    private var parts: (Kind, any Encodable) {
        switch self {
        case .run(let value): (.run, value)
        case .device(let value): (.device, value)
        case .send(let value): (.send, value)
        case .hub(let value): (.hub, value)
        case .fetch(let value): (.fetch, value)
        case .show(let value): (.show, value)
        case .hide(let value): (.hide, value)
        case .revoke(let value): (.revoke, value)
        case .nemesis(let value): (.nemesis, value)
        case .record(let value): (.record, value)
        case .letter(let value): (.letter, value)
        case .leak(let value): (.leak, value)
        case .gap(let value): (.gap, value)
        case .exit(let value): (.exit, value)
        case .end(let value): (.end, value)
        }
    }
}

extension HistoryEvent {
    /// A fault begins, or all that it broke runs again.
    public struct Nemesis: Codable, Sendable, Equatable {
        public enum Phase: String, Codable, Sendable {
            case begin
            case end
        }
        public var time: Int64
        public var phase: Phase
        /// As the plan names it: `kill rabbitmq`, `stop dispatcher-2`.
        public var fault: String
        /// Quorum queues that had no leader and were given one (rabbitmq-server issue 10070).
        public var healed: Int?
        /// What went wrong with the fault itself; `nil` when it was done as planned.
        public var failure: String?

        public init(time: Int64, phase: Phase, fault: String, healed: Int? = nil, failure: String? = nil) {
            self.time = time
            self.phase = phase
            self.fault = fault
            self.healed = healed
            self.failure = failure
        }
    }

    /// What the store has on record of a notification.
    public struct Record: Codable, Sendable, Equatable {
        public struct Delivery: Codable, Sendable, Equatable {
            public var platform: String
            public var state: String
            public var attempts: Int
            /// Requests that the hub may have taken though no answer is on record.
            public var unanswered: Int
            public var updatedAt: Int64

            public init(platform: String, state: String, attempts: Int, unanswered: Int = 0, updatedAt: Int64) {
                self.platform = platform
                self.state = state
                self.attempts = attempts
                self.unanswered = unanswered
                self.updatedAt = updatedAt
            }
        }
        public var time: Int64
        /// Whether it was read after the run; the others are looks while the run lasted.
        public var isFinal: Bool
        public var id: String
        public var recipient: String
        public var isExpired: Bool
        public var isRevoked: Bool
        public var deliveries: [Delivery]

        public init(
            time: Int64, isFinal: Bool, id: String, recipient: String, isExpired: Bool = false,
            isRevoked: Bool = false, deliveries: [Delivery]
        ) {
            self.time = time
            self.isFinal = isFinal
            self.id = id
            self.recipient = recipient
            self.isExpired = isExpired
            self.isRevoked = isRevoked
            self.deliveries = deliveries
        }
    }

    /// A message in the dead-letter queue after the run.
    public struct Letter: Codable, Sendable, Equatable {
        public var id: String?
        public var platforms: [String]
        public var reason: String

        public init(id: String?, platforms: [String], reason: String) {
            self.id = id
            self.platforms = platforms
            self.reason = reason
        }
    }

    /// A search for bytes of payloads where none may be.
    public struct Leak: Codable, Sendable, Equatable {
        public var place: String
        public var found: Int
        public var searchedBytes: Int

        public init(place: String, found: Int, searchedBytes: Int) {
            self.place = place
            self.found = found
            self.searchedBytes = searchedBytes
        }
    }

    /// Hub records that nobody has read: the log's bound was too small.
    public struct Gap: Codable, Sendable, Equatable {
        public var after: Int
        public var missing: Int

        public init(after: Int, missing: Int) {
            self.after = after
            self.missing = missing
        }
    }

    /// The end of a service's process that nobody killed.
    public struct Exit: Codable, Sendable, Equatable {
        public var time: Int64
        public var service: String
        /// Whether it had been asked to end (SIGTERM).
        public var isAsked: Bool
        /// `nil` when a signal ended it.
        public var code: Int32?
        /// From SIGTERM to its end, in milliseconds.
        public var took: Int64?

        public init(time: Int64, service: String, isAsked: Bool, code: Int32?, took: Int64? = nil) {
            self.time = time
            self.service = service
            self.isAsked = isAsked
            self.code = code
            self.took = took
        }
    }

    /// The end of a run.
    public struct End: Codable, Sendable, Equatable {
        public var time: Int64
        /// Why the run was broken off; `nil` when it came to its end.
        public var failure: String?

        public init(time: Int64, failure: String? = nil) {
            self.time = time
            self.failure = failure
        }
    }
}
