public import SecurePushEnvelope

/// A store that forgets everything at the end of the process, for tools and tests.
public actor MemoryClientStore {
    private var state = ClientState()
    private var stored: StoredCredentials?
    private var key: EnvelopePrivateKey?
    private var hasNoticed = false

    /// Makes an empty store.
    public init() {}
}

extension MemoryClientStore: ClientStore {
    /// The state of this process.
    public func read() async throws -> ClientState { state }

    /// Changes the state of this process.
    public func update<Result: Sendable>(
        _ change: @Sendable (inout ClientState) -> Result
    ) async throws -> Result {
        change(&state)
    }

    /// The credentials of this process; `nil` if there are none.
    public func credentials() async throws -> StoredCredentials? { stored }

    /// Replaces the credentials of this process, if they are still the expected ones; `nil` removes them.
    public func replace(_ expected: StoredCredentials?, with new: StoredCredentials?) async throws -> Bool {
        guard stored == expected else { return false }
        stored = new
        return true
    }

    /// The key for end-to-end encryption of this process; `nil` if there is none.
    public func envelopeKey() async throws -> EnvelopePrivateKey? { key }

    /// Keeps a key for end-to-end encryption, unless there is one; `nil` removes it.
    ///
    /// - Returns: the key that is kept now.
    public func keep(_ key: EnvelopePrivateKey?) async throws -> EnvelopePrivateKey? {
        self.key = key == nil ? nil : self.key ?? key
        return self.key
    }

    /// Whether this is the first call of this process.
    public func claimLockedNotice() async -> Bool {
        defer { hasNoticed = true }
        return !hasNoticed
    }
}
