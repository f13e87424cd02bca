extension MemoryStore: SilentPushes {
    public func admit(
        _ wishes: [SilentPushWish], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission] {
        wishes.map { wish in
            guard let state = silentPushes[wish.key] else {
                silentPushes[wish.key] = .first(wish, now: now)
                return .granted(SilentPushGrant(key: wish.key, turn: 1))
            }
            let (admission, changed) = state.admitting(wish, interval: interval, now: now)
            silentPushes[wish.key] = changed
            return admission
        }
    }

    public func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws {
        for release in releases {
            let key = release.grant.key
            if let state = silentPushes[key]?.releasing(release, interval: interval, now: now) {
                silentPushes[key] = state
            }
        }
    }

    /// Removes the states of a recipient whose last silent push is as old as the notifications that are removed.
    func forgetSilentPushes(of recipient: UserName, until oldest: Timestamp) {
        for platform in Platform.known {
            let key = SilentPushKey(recipient: recipient, platform: platform)
            if let state = silentPushes[key], state.pushedAt <= oldest { silentPushes[key] = nil }
        }
    }
}
