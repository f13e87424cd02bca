import Domain
package import Foundations

/// A page of the registrations with one of some keys of `hub_tags`.
struct HubFind: Sendable {
    /// Without repeats.
    let keys: [String]
    let after: Int64
    let limit: Int
    let now: Timestamp

    /// A hub's key and the parts of it contain no U+0001.
    static func key(hub: String, audience: String, tag: String) -> String { "\(hub)\u{1}\(audience)\u{1}\(tag)" }
}

extension HubTables {
    /// A page of the registrations that a send reaches, or that a list shows, in the order of their places.
    ///
    /// Concurrent calls for a first page share a statement, except in memory. If tags decide by more than one set, the smallest set is
    /// read and the others decide in this process, so a page may be short, or empty, and not the last one.
    ///
    /// - Parameters:
    ///   - after: ``HubPage/next`` of the page before; 0 for the first page.
    ///   - limit: the maximum number of registrations that are read; at most ``pageSize``.
    ///   - now: registrations that expired before are left out.
    package func targets(
        hub: String, of audience: HubAudience, after: Int64 = 0, limit: Int = pageSize, now: Timestamp = .now
    ) async throws -> HubPage {
        let tags = try await smallest(audience, hub: hub)
        let keys = audience.formats.flatMap { format in
            Set(tags).map { HubFind.key(hub: hub, audience: format, tag: $0) }
        }
        let find = HubFind(keys: keys, after: after, limit: min(max(limit, 1), Self.pageSize), now: now)
        let isShared = !store.readsAtOnce && after == 0 && find.limit == Self.pageSize
        var page = try await (isShared ? finds.submit([find]) : store.pages(of: [find])).first ?? HubPage()
        if let matches = audience.matches {
            page.registrations.removeAll { !matches(Set($0.tags.map { $0.lowercased() })) }
        }
        return page
    }

    /// The tags of the set that the fewest registrations have; the empty tag, which each has, without a set.
    private func smallest(_ audience: HubAudience, hub: String) async throws -> [String] {
        guard audience.tagSets.count > 1 else { return audience.tagSets.first ?? [""] }
        let counts = try await store.read { db in
            try audience.tagSets.map { tags in
                let keys = audience.formats.flatMap { format in
                    tags.map { HubFind.key(hub: hub, audience: format, tag: $0) }
                }
                return try db.first(HubFind.count(of: keys)) as Int? ?? 0
            }
        }
        return zip(audience.tagSets, counts).min { $0.1 < $1.1 }?.0 ?? [""]
    }
}

extension SQLStore {
    /// The pages of finds, which have one `after` and one `limit`.
    func pages(of group: [HubFind]) async throws -> [HubPage] {
        guard let sql = HubFind.sql(of: group) else { return [] }
        return HubFind.pages(of: group, try await all(sql, HubFind.read))
    }

    func pages(of group: [HubFind], then completion: @escaping GroupCommit<HubFind, HubPage>.Completion) {
        guard let sql = HubFind.sql(of: group) else { return completion(.success([])) }
        all(sql, HubFind.read) { rows in completion(rows.map { HubFind.pages(of: group, $0) }) }
    }
}

extension HubFind {
    fileprivate typealias Found = (key: String, registration: HubRegistrationRow)

    fileprivate static func sql(of group: [HubFind]) -> SQL? {
        group.first.map { sql(keys: Set(group.flatMap(\.keys)), after: $0.after, limit: $0.limit) }
    }

    @Sendable fileprivate static func read(_ row: inout SQLRow) throws -> Found {
        (key: try row(), registration: try HubRegistrationRow(&row))
    }

    fileprivate static func pages(of group: [HubFind], _ rows: [Found]) -> [HubPage] {
        let found = Dictionary(grouping: rows, by: \.key)
        return group.map { find in
            var seen: Set<Int64> = []
            let all = find.keys.flatMap { found[$0] ?? [] }.map(\.registration).filter {
                seen.insert($0.sequence).inserted
            }.sorted { $0.sequence < $1.sequence }
            let page = all.prefix(find.limit)
            return HubPage(
                registrations: page.filter { $0.expiresAt.map { $0 >= find.now } ?? true },
                next: all.count > find.limit ? page.last?.sequence : nil)
        }
    }
}

extension HubFind {
    /// How many rows have one of some keys, at most ``HubTables/pageSize``.
    static func count(of keys: [String]) -> SQL {
        """
        SELECT count(*) FROM (
            SELECT 1 AS one FROM \(table: keys, as: "asked") CROSS JOIN hub_tags AS t WHERE t.key = asked.value
            LIMIT \(HubTables.pageSize)
        ) AS found
        """
    }

    /// The first `limit` registrations of each key, and one more to know whether there are more.
    static func sql(keys: some Sequence<String>, after: Int64, limit: Int) -> SQL {
        """
        SELECT t.key, \(SQL.registrationColumns)
        FROM \(table: keys, as: "asked") CROSS JOIN hub_tags AS t CROSS JOIN hub_registrations AS r
        WHERE t.key = asked.value AND t.registration > \(after) AND t.registration <= coalesce((
                SELECT last.registration FROM hub_tags AS last
                WHERE last.key = asked.value AND last.registration > \(after)
                ORDER BY last.registration LIMIT 1 OFFSET \(limit)
            ), 9223372036854775807)
            AND r.sequence = t.registration
        """
    }
}
