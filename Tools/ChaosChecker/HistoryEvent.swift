/// One line of a history: what somebody outside the services saw. Times are milliseconds since the Unix epoch.
package enum HistoryEvent: Sendable, Equatable {
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
    case pushService(PushService)
    case gap(Gap)
    case exit(Exit)
    case end(End)

    /// The beginning of a run, with all that it was started with.
    package struct Run: Codable, Sendable, Equatable {
        package var time: Int64
        package var count: Int
        package var platforms: [String]
        /// Explained duplicate sends that are allowed beside 2 % of all: what a short run's kills can amount to.
        package var allowance: Int
        /// The dispatchers' `DISPATCH_WITHDRAW`; `nil` in histories from before there were withdrawals.
        package var withdraw: String?
        /// `own` for hubs of one's own, behind which a push service is watched; `nil` for the emulator.
        package var hub: String?
        package var plan: FaultPlan

        package init(
            time: Int64, count: Int, platforms: [String], allowance: Int = 0, withdraw: String? = nil,
            hub: String? = nil, plan: FaultPlan
        ) {
            self.time = time
            self.count = count
            self.platforms = platforms
            self.allowance = allowance
            self.withdraw = withdraw
            self.hub = hub
            self.plan = plan
        }
    }

    /// A simulated device that is registered, and live from then on.
    package struct Device: Codable, Sendable, Equatable {
        package var name: String
        package var user: String
        package var platform: String

        package init(name: String, user: String, platform: String) {
            self.name = name
            self.user = user
            self.platform = platform
        }
    }

    /// A step of one request to ingest. The same number is sent under the same idempotency key until it is answered.
    package struct Send: Codable, Sendable, Equatable {
        package enum Phase: String, Codable, Sendable {
            case invoke
            /// 201: the ID is durable.
            case ok
            /// Refused: nothing was stored.
            case fail
            /// No answer, or one that leaves open whether it was stored.
            case unknown
        }
        package var time: Int64
        package var phase: Phase
        package var number: Int
        package var recipient: String
        package var id: String?
        package var status: Int?
        /// How many reminders it asks for; `nil` for none.
        package var reminders: Int?

        package init(
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
    package struct Revoke: Codable, Sendable, Equatable {
        package var time: Int64
        package var id: String

        package init(time: Int64, id: String) {
            self.time = time
            self.id = id
        }
    }

    /// A send that crossed the hub, from the hub's own log.
    package struct HubSend: Codable, Sendable, Equatable {
        package var time: Int64
        package var sequence: Int
        package var platform: String
        /// The notification's ID that the body names; `nil` when it names none.
        package var id: String?
        /// Whether the hub took it, whatever the dispatcher was told.
        package var accepted: Bool
        /// What the dispatcher was answered; `nil` when it got no answer.
        package var status: Int?
        package var fault: String?
        /// The devices that it reached.
        package var devices: [String]
        /// Whether it withdraws the notification; `nil` for a push.
        package var withdraws: Bool?

        package init(
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
    package struct Fetch: Codable, Sendable, Equatable {
        package enum Reason: String, Codable, Sendable {
            case push
            case inbox
            /// By a user whose it is not; it must not succeed.
            case probe
        }
        package var time: Int64
        package var device: String
        package var user: String
        package var id: String
        package var reason: Reason
        package var status: Int
        /// The number in the payload that came; `nil` when none came.
        package var number: Int?

        package init(
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
    package struct Show: Codable, Sendable, Equatable {
        package var time: Int64
        package var device: String
        package var id: String

        package init(time: Int64, device: String, id: String) {
            self.time = time
            self.device = device
            self.id = id
        }
    }
}

extension HistoryEvent: Codable {
    private enum Kind: String, Codable {
        case run, device, send, hub, fetch, show, hide, revoke, nemesis, record, letter, leak, pushService, gap, exit,
            end
    }

    private enum CodingKeys: String, CodingKey {
        case type
    }

    /// An object with `type` beside the members of the event.
    package init(from decoder: any Decoder) throws {
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
        case .pushService: self = .pushService(try PushService(from: decoder))
        case .gap: self = .gap(try Gap(from: decoder))
        case .exit: self = .exit(try Exit(from: decoder))
        case .end: self = .end(try End(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
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
        case .pushService(let value): (.pushService, value)
        case .gap(let value): (.gap, value)
        case .exit(let value): (.exit, value)
        case .end(let value): (.end, value)
        }
    }
}

extension HistoryEvent {
    /// A fault begins, or all that it broke runs again.
    package struct Nemesis: Codable, Sendable, Equatable {
        package enum Phase: String, Codable, Sendable {
            case begin
            case end
        }
        package var time: Int64
        package var phase: Phase
        /// As the plan names it: `kill rabbitmq`, `stop dispatcher-2`.
        package var fault: String
        /// Quorum queues that had no leader and were given one (rabbitmq-server issue 10070).
        package var healed: Int?
        /// What went wrong with the fault itself; `nil` when it was done as planned.
        package var failure: String?

        package init(time: Int64, phase: Phase, fault: String, healed: Int? = nil, failure: String? = nil) {
            self.time = time
            self.phase = phase
            self.fault = fault
            self.healed = healed
            self.failure = failure
        }
    }

    /// What the store has on record of a notification.
    package struct Record: Codable, Sendable, Equatable {
        package struct Delivery: Codable, Sendable, Equatable {
            package var platform: String
            package var state: String
            package var attempts: Int
            /// Requests that the hub may have taken though no answer is on record.
            package var unanswered: Int
            package var updatedAt: Int64

            package init(platform: String, state: String, attempts: Int, unanswered: Int = 0, updatedAt: Int64) {
                self.platform = platform
                self.state = state
                self.attempts = attempts
                self.unanswered = unanswered
                self.updatedAt = updatedAt
            }
        }
        package var time: Int64
        /// Whether it was read after the run; the others are looks while the run lasted.
        package var isFinal: Bool
        package var id: String
        package var recipient: String
        package var isExpired: Bool
        package var isRevoked: Bool
        package var deliveries: [Delivery]

        package init(
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
    package struct Letter: Codable, Sendable, Equatable {
        package var id: String?
        package var platforms: [String]
        package var reason: String

        package init(id: String?, platforms: [String], reason: String) {
            self.id = id
            self.platforms = platforms
            self.reason = reason
        }
    }

    /// A search for bytes where none may be.
    package struct Leak: Codable, Sendable, Equatable {
        package var place: String
        package var found: Int
        package var searchedBytes: Int
        /// The bytes that were searched for; `nil` for payloads.
        package var subject: String?

        package init(place: String, found: Int, searchedBytes: Int, subject: String? = nil) {
            self.place = place
            self.found = found
            self.searchedBytes = searchedBytes
            self.subject = subject
        }
    }

    /// Hub records that nobody has read: the log's bound was too small.
    package struct Gap: Codable, Sendable, Equatable {
        package var after: Int
        package var missing: Int

        package init(after: Int, missing: Int) {
            self.after = after
            self.missing = missing
        }
    }

    /// The end of a service's process that nobody killed.
    package struct Exit: Codable, Sendable, Equatable {
        package var time: Int64
        package var service: String
        /// Whether it had been asked to end (SIGTERM).
        package var isAsked: Bool
        /// `nil` when a signal ended it.
        package var code: Int32?
        /// From SIGTERM to its end, in milliseconds.
        package var took: Int64?

        package init(time: Int64, service: String, isAsked: Bool, code: Int32?, took: Int64? = nil) {
            self.time = time
            self.service = service
            self.isAsked = isAsked
            self.code = code
            self.took = took
        }
    }

    /// The end of a run.
    package struct End: Codable, Sendable, Equatable {
        package var time: Int64
        /// Why the run was broken off; `nil` when it came to its end.
        package var failure: String?

        package init(time: Int64, failure: String? = nil) {
            self.time = time
            self.failure = failure
        }
    }
}
