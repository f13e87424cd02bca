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
