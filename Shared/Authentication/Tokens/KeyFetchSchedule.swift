/// When a remote key set is fetched: as a value, without clock or network.
struct KeyFetchSchedule {
    enum Reason {
        /// Keys are there, and may be too old.
        case age
        /// A token needs a key that is not there.
        case missingKey
        /// An operator asks.
        case reload
    }

    enum Action: Equatable {
        case fetch
        /// A fetch is under way: wait for it.
        case join
        /// Go on with what is there. The last fetch may have failed.
        case keep(hasFailed: Bool)
    }

    /// How old keys may become before they are fetched again.
    static let maximumAge = Duration.seconds(300)
    /// How long a token with an unknown key must wait for another fetch, so that such tokens cannot be turned on the
    /// issuer's server.
    static let minimumInterval = Duration.seconds(10)
    /// The same while there are no keys at all, and so nobody can be let in.
    static let minimumIntervalWithoutKeys = Duration.seconds(1)

    private var isFetching = false
    private var hasKeys = false
    private(set) var hasFailed = false
    private var lastFetch: ContinuousClock.Instant?

    mutating func next(_ reason: Reason, at now: ContinuousClock.Instant) -> Action {
        if isFetching { return .join }
        let interval =
            switch reason {
            case .age: hasFailed ? Self.minimumInterval : Self.maximumAge
            case .missingKey: hasKeys ? Self.minimumInterval : Self.minimumIntervalWithoutKeys
            case .reload: Duration.zero
            }
        if let lastFetch, now < lastFetch + interval { return .keep(hasFailed: hasFailed) }
        isFetching = true
        lastFetch = now
        return .fetch
    }

    mutating func ended(successfully isSuccess: Bool) {
        isFetching = false
        hasFailed = !isSuccess
        hasKeys = hasKeys || isSuccess
    }
}
