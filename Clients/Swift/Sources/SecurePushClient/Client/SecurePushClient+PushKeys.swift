import Foundation

extension SecurePushClient {
    /// Reads the server's keys for pushes, if those that are stored are old. A device whose app is not opened learns
    /// the next key in this way, while its pushes are still signed with the last one.
    ///
    /// One wake does this for all wakes at the same time, with one request of at most 5 s. After a failure the next
    /// wake tries again.
    ///
    /// - Parameter deadline: the ``ClientClock/uptime`` at which it ends.
    func refreshOldPushKeys(until deadline: TimeInterval) async {
        guard readsPushKeys, !isRefreshingPushKeys else { return }
        isRefreshingPushKeys = true
        defer { isRefreshingPushKeys = false }
        guard let state = try? await keeper.read() else { return }
        let age = clock.date.timeIntervalSince1970 - (state.pushKeysReadAt ?? -.infinity)
        // The age is negative if the clock went back. Then the keys are read again.
        if state.pushKeys != nil, age >= 0, age < configuration.limits.refreshesPushKeysAfter { return }
        var call = Self.pushKeysCall
        call.isRetried = false
        await refreshPushKeys(by: call, until: min(deadline, clock.uptime + Self.secondsForPushKeys))
    }

    /// Reads the server's keys for pushes. They come from the configured host, over the same TLS as the secrets, so
    /// they replace the configured keys. A failure, and a set that cannot be used, change nothing.
    func refreshPushKeys(by call: RetrievalCall, until deadline: TimeInterval) async {
        guard readsPushKeys, case .success(let response) = await connection.send(call, until: deadline),
            let keys = try? PushKeySet(jwkSet: response.body)
        else { return }
        let now = clock.date.timeIntervalSince1970
        _ = try? await keeper.update { ($0.pushKeys, $0.pushKeysReadAt) = (keys, now) }
    }

    private var readsPushKeys: Bool { configuration.pushKeys != nil && configuration.refreshesPushKeys }

    /// The request for the keys. They are the same for everybody.
    static let pushKeysCall = RetrievalCall(path: "api/push-keys", isAuthorized: false)
    /// The longest time for reading the keys, in seconds.
    private static let secondsForPushKeys: TimeInterval = 5
}
