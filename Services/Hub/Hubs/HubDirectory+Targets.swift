import Domain
import Foundations
import Storage

extension HubDirectory {
    /// Registrations, and after which place the next page begins; `nil` after the last page.
    typealias Page = (registrations: [RegistrationEntry], next: Int64?)

    /// A page of the target registrations of a send, in the order of their places. It may be empty, and not the last.
    ///
    /// - Throws: ``StorageError``.
    func targets(
        _ hubKey: String, format: NotificationFormat, expression: TagExpression?, after: Int64
    ) async throws -> Page {
        let page = try await tables.targets(hub: hubKey, of: HubAudience(of: format, expression), after: after)
        return (page.registrations.compactMap(RegistrationEntry.init), page.next)
    }

    /// Those of some handles with which a device is registered, in lower case.
    ///
    /// - Throws: ``StorageError``.
    func registered(_ handles: [String], hub hubKey: String) async throws -> Set<String> {
        // The hub keeps Apple's tokens in upper case. No stored text has a zero byte.
        let asked = handles.filter { !$0.utf8.contains(0) }.flatMap { [$0, $0.uppercased()] }
        if asked.isEmpty { return [] }
        return Set(try await tables.registrations(handles: asked, hub: hubKey).map { $0.handle.lowercased() })
    }

    /// `nil` if there is none.
    func registration(_ id: String, hub hubKey: String) async throws -> RegistrationEntry? {
        guard RegistrationID.isValid(id) else { return nil }
        return try await tables.registration(id, hub: hubKey).flatMap(RegistrationEntry.init)
    }

    /// A page of a list.
    ///
    /// - Returns: the registrations, and after which place the next page begins; `nil` after the last page.
    func list(
        _ hubKey: String, tag: String? = nil, after: Int, limit: Int
    ) async throws -> (page: [RegistrationEntry], next: Int64?) {
        // No stored tag has what XML forbids, such as a zero byte.
        if let tag, !tag.unicodeScalars.allSatisfy(XMLInput.isAllowed) { return ([], nil) }
        let page = try await tables.targets(
            hub: hubKey, of: HubAudience(ofAllWith: tag), after: Int64(after), limit: limit)
        return (page.registrations.compactMap(RegistrationEntry.init), page.next)
    }

    /// A page of the registrations that a filter names. Without a handle in the filter the registrations of the hub are
    /// read, at most 10,000; then the page may be short, or empty, and not the last one.
    func list(
        _ hubKey: String, _ filter: RegistrationFilter, after: Int, limit: Int
    ) async throws -> (page: [RegistrationEntry], next: Int64?) {
        if let handles = filter.handles?.filter({ !$0.utf8.contains(0) }) {
            let now = Timestamp.now
            let found = try await tables.registrations(handles: handles, hub: hubKey).filter {
                $0.sequence > after && ($0.expiresAt.map { $0 >= now } ?? true)
            }.compactMap(RegistrationEntry.init).filter(filter.matches)
            let page = Array(found.prefix(limit))
            return (page, found.count > limit ? page.last.map { Int64($0.sequence) } : nil)
        }
        var found: [RegistrationEntry] = []
        var place = Int64(after)
        for _ in 0..<(10_000 / HubTables.pageSize) {
            let page = try await tables.targets(hub: hubKey, of: HubAudience(ofAllWith: nil), after: place)
            found += page.registrations.compactMap(RegistrationEntry.init).filter(filter.matches)
            if found.count > limit {
                return (Array(found.prefix(limit)), Int64(found[limit - 1].sequence))
            }
            guard let next = page.next else { return (found, nil) }
            place = next
        }
        return (found, place)
    }
}
