extension MemoryStore: RefreshTokenStore {
    package func add(_ family: RefreshFamily) async throws {
        let surplus = refreshFamilies.values.filter { $0.owner == family.owner }
            .sorted { $0.expiresAt > $1.expiresAt }
            .dropFirst(RefreshFamily.maxPerUser - 1)
        for old in surplus { refreshFamilies[old.id] = nil }
        refreshFamilies[family.id] = family
    }

    package func refreshFamily(_ id: [UInt8]) async throws -> RefreshFamily? { refreshFamilies[id] }

    package func renew(
        _ family: RefreshFamily, replacing hash: [UInt8], now: Timestamp
    ) async throws -> Bool {
        guard let known = refreshFamilies[family.id], known.tokenHash == hash, known.expiresAt > now else {
            return false
        }
        refreshFamilies[family.id]?.tokenHash = family.tokenHash
        refreshFamilies[family.id]?.expiresAt = family.expiresAt
        refreshFamilies[family.id]?.replaced = family.replaced
        return true
    }

    package func removeRefreshFamily(_ id: [UInt8]) async throws { refreshFamilies[id] = nil }

    package func purgeRefreshFamilies(limit: Int, now: Timestamp) async throws -> Int {
        let due = refreshFamilies.values.filter { $0.expiresAt <= now }.prefix(max(limit, 0))
        for family in due { refreshFamilies[family.id] = nil }
        return due.count
    }
}
