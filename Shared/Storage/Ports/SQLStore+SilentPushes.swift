import Domain
import Foundations

extension SQLStore {
    func admit(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission] {
        if requests.isEmpty { return [] }
        return try await write(weight: requests.count, bytes: requests.count * 512) { db in
            var states = try db.silentStates(requests.map(\.key))
            let new = requests.map(\.key).filter { states[$0] == nil }
            if !new.isEmpty {
                try db.startSilentStates(new)
                states.merge(try db.silentStates(new)) { $1 }
            }
            var changes: [SQL] = []
            let admissions = try requests.map { request in
                // It went with the recipient's last notification.
                guard let state = states[request.key] else {
                    throw StorageError(.unavailable, "The silent pushes of a recipient keep changing.")
                }
                let (admission, changed) = state.admitting(request, interval: interval, now: now)
                if changed != state { changes.append(changed.update(request.key)) }
                return admission
            }
            try db.run(each: changes)
            return admissions
        }
    }

    func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws {
        if releases.isEmpty { return }
        try await write(weight: releases.count, bytes: releases.count * 512) { db in
            let states = try db.silentStates(releases.map(\.grant.key))
            try db.run(
                each: releases.compactMap { release in
                    let key = release.grant.key
                    return states[key]?.releasing(release, interval: interval, now: now)?.update(key)
                })
        }
    }
}

extension SQLTransaction {
    /// The states of these keys, and others of the same recipients. They are locked in the order of the primary key, so
    /// that two dispatchers never wait for each other.
    fileprivate func silentStates(_ keys: [SilentPushKey]) throws -> [SilentPushKey: SilentPushState] {
        let rows = try all(
            """
            SELECT recipient, platform, turn, pushed_at, pushed_id, waiting_id FROM silent_pushes
            WHERE recipient \(in: Set(keys.map(\.recipient))) AND platform \(in: Set(keys.map(\.platform)))
            ORDER BY recipient, platform \(.forUpdate)
            """
        ) { row in
            let key = SilentPushKey(recipient: try row(), platform: try row())
            let state = SilentPushState(
                sequence: try row(), pushedAt: try row(), pushedID: try row(), waitingID: try row())
            return (key, state)
        }
        return Dictionary(rows) { $1 }
    }

    /// Adds states without a push. Of two dispatchers that do so at the same time, the second waits, and then finds the
    /// state of the first.
    fileprivate func startSilentStates(_ keys: [SilentPushKey]) throws {
        let sorted = keys.sorted {
            ($0.recipient.text, $0.platform.rawValue) < ($1.recipient.text, $1.platform.rawValue)
        }
        try run(
            each: sorted.map { key in
                """
                INSERT INTO silent_pushes (recipient, platform, turn, pushed_at)
                VALUES (\(key.recipient), \(key.platform), 0, 0) ON CONFLICT (recipient, platform) DO NOTHING
                """
            })
    }
}

extension SilentPushState {
    fileprivate func update(_ key: SilentPushKey) -> SQL {
        """
        UPDATE silent_pushes SET turn = \(sequence), pushed_at = \(pushedAt), pushed_id = \(pushedID),
            waiting_id = \(waitingID)
        WHERE recipient = \(key.recipient) AND platform = \(key.platform)
        """
    }
}
