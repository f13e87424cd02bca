/// One line of a history: what somebody outside the services saw. Times are milliseconds since the Unix epoch.
public enum HistoryEvent: Sendable, Equatable {
    case run(Run)
    case device(Device)
    case send(Send)
    case hub(HubSend)
    case fetch(Fetch)
    case show(Show)
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
        public var plan: FaultPlan

        public init(time: Int64, count: Int, platforms: [String], allowance: Int = 0, plan: FaultPlan) {
            self.time = time
            self.count = count
            self.platforms = platforms
            self.allowance = allowance
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

        public init(
            time: Int64, phase: Phase, number: Int, recipient: String, id: String? = nil, status: Int? = nil
        ) {
            self.time = time
            self.phase = phase
            self.number = number
            self.recipient = recipient
            self.id = id
            self.status = status
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

        public init(
            time: Int64, sequence: Int, platform: String, id: String?, accepted: Bool, status: Int? = nil,
            fault: String? = nil, devices: [String] = []
        ) {
            self.time = time
            self.sequence = sequence
            self.platform = platform
            self.id = id
            self.accepted = accepted
            self.status = status
            self.fault = fault
            self.devices = devices
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

    /// A device showed a notification to its user.
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
