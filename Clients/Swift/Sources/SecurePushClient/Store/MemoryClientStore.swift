/// A store that forgets everything at the end of the process, for tools and tests.
public actor MemoryClientStore {
    private var state = ClientState()
    private var stored: StoredCredentials?
    private var keys = EnvelopeKeyRing()
    private var opened = EnvelopeRecords()
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

    /// The keys for end-to-end encryption of this process.
    public func envelopeKeys() async throws -> EnvelopeKeyRing { keys }

    /// Replaces the keys for end-to-end encryption, if they are still the expected ones.
    public func replace(_ expected: EnvelopeKeyRing, with new: EnvelopeKeyRing) async throws -> Bool {
        guard keys == expected else { return false }
        keys = new
        return true
    }

    /// Notes that this process has opened an envelope.
    public func remember(_ envelope: EnvelopeRecord) async throws -> Bool {
        let result = opened.result(of: envelope)
        if result == .new { opened.append(envelope) }
        return result != .replayed
    }

    /// Whether this is the first call of this process.
    public func claimLockedNotice() async -> Bool {
        defer { hasNoticed = true }
        return !hasNoticed
    }
}
