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
        let (now, limit) = (clock.date.timeIntervalSince1970, configuration.limits.refreshesPushKeysAfter)
        guard let state = try? await keeper.read(),
            state.pushKeys == nil || !state.hasReadPushKeys(at: now, within: limit)
        else { return }
        await readPushKeysOnce(until: deadline)
    }

    /// Reads the server's keys for pushes, because a push is signed with a key that is not known, unless they were read
    /// or asked for in this way less than ``ClientLimits/refreshesPushKeysAfter`` ago. Anybody can send such pushes.
    ///
    /// - Returns: whether the server has answered with keys.
    func readPushKeysForUnknownKey(until deadline: TimeInterval) async -> Bool {
        guard readsPushKeys, !isRefreshingPushKeys else { return false }
        isRefreshingPushKeys = true
        defer { isRefreshingPushKeys = false }
        let (now, limit) = (clock.date.timeIntervalSince1970, configuration.limits.refreshesPushKeysAfter)
        let mayAsk = try? await keeper.update { $0.askForPushKeys(at: now, within: limit) }
        return mayAsk == true ? await readPushKeysOnce(until: deadline) : false
    }

    @discardableResult
    private func readPushKeysOnce(until deadline: TimeInterval) async -> Bool {
        var call = Self.pushKeysCall
        call.isRetried = false
        return await refreshPushKeys(by: call, until: min(deadline, clock.uptime + Self.secondsForPushKeys))
    }

    /// Reads the server's keys for pushes. They come from the configured host, over the same TLS as the secrets, so
    /// they replace the configured keys. A failure, and a set that cannot be used, change nothing.
    ///
    /// - Returns: whether there are keys.
    @discardableResult
    func refreshPushKeys(by call: RetrievalCall, until deadline: TimeInterval) async -> Bool {
        guard readsPushKeys, case .success(let response) = await connection.send(call, until: deadline),
            let keys = try? PushKeySet(jwkSet: response.body)
        else { return false }
        let now = clock.date.timeIntervalSince1970
        return (try? await keeper.update { ($0.pushKeys, $0.pushKeysReadAt) = (keys, now) }) != nil
    }

    private var readsPushKeys: Bool { configuration.pushKeys != nil && configuration.refreshesPushKeys }

    /// The request for the keys. They are the same for everybody.
    static let pushKeysCall = RetrievalCall(path: "api/push-keys", isAuthorized: false)
    /// The longest time for reading the keys, in seconds.
    private static let secondsForPushKeys: TimeInterval = 5
}
