/// A request that carries an `Idempotency-Key`, as the store keeps it: what makes a repeat the same request, and the
/// answer that a repeat is given.
public struct IdempotentRequest: Sendable, Hashable {
    /// What a key is unique within.
    public struct Key: Sendable, Hashable {
        /// As ``Notification/sender``: keys of different senders never meet.
        public var sender: String
        /// The header's value: 1 to 255 visible ASCII characters.
        public var value: String
        /// The line of a batch, from 1; 0 for a request of its own.
        public var line: Int

        public init(sender: String, value: String, line: Int = 0) {
            self.sender = sender
            self.value = value
            self.line = line
        }
    }

    public var key: Key
    /// Tells bodies apart without telling what they hold; see ``PayloadSealer``.
    public var fingerprint: [UInt8]
    public var answer: Answer
    /// From this time on the key may be used anew.
    public var expiresAt: Timestamp

    /// What the first request was answered; its status is always 201.
    public struct Answer: Sendable, Hashable {
        public var location: String?
        public var body: [UInt8]

        public init(location: String?, body: [UInt8]) {
            self.location = location
            self.body = body
        }
    }

    public init(key: Key, fingerprint: [UInt8], answer: Answer, expiresAt: Timestamp) {
        self.key = key
        self.fingerprint = fingerprint
        self.answer = answer
        self.expiresAt = expiresAt
    }
}

extension IdempotentRequest.Key {
    /// Byte for byte: a sender may be a user, and users' names are compared so.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.line == rhs.line && lhs.value.utf8.elementsEqual(rhs.value.utf8)
            && lhs.sender.utf8.elementsEqual(rhs.sender.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(line)
        for text in [sender, value] {
            hasher.combine(text.utf8.count)
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}
