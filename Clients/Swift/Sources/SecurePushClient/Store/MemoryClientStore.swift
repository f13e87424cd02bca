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
    public func read() async throws -> ClientState { state }

    public func update<Result: Sendable>(
        _ change: @Sendable (inout ClientState) -> Result
    ) async throws -> Result {
        change(&state)
    }

    public func credentials() async throws -> StoredCredentials? { stored }

    public func save(_ credentials: StoredCredentials?) async throws { stored = credentials }

    public func envelopeKey() async throws -> EnvelopePrivateKey? { key }

    public func keep(_ key: EnvelopePrivateKey?) async throws -> EnvelopePrivateKey? {
        self.key = key == nil ? nil : self.key ?? key
        return self.key
    }

    public func claimLockedNotice() async -> Bool {
        defer { hasNoticed = true }
        return !hasNoticed
    }
}
