extension MemoryStore: SilentPushes {
    package func admit(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission] {
        requests.map { request in
            guard let state = silentPushes[request.key] else {
                silentPushes[request.key] = .first(request, now: now)
                return .granted(SilentPushGrant(key: request.key, sequence: 1))
            }
            let (admission, changed) = state.admitting(request, interval: interval, now: now)
            silentPushes[request.key] = changed
            return admission
        }
    }

    package func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws {
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
