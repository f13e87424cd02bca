import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// The devices of a user as a whole:
///
/// - `GET /api/installations` lists the caller's installations.
/// - `DELETE /api/devices` removes all installations and registrations of the caller.
struct DeviceListController: Sendable {
    let users: UserAuthenticator
    let changes: DeviceChanges

    /// Lists the caller's installations by their IDs. They come from the store, because the hub has no such list.
    @Sendable func list(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        let query = try InstallationListQuery(query: request.uri.query)
        var page = InstallationPage()
        var after = query.after
        while true {
            let found = try await changes.store.installations(of: user, after: after, limit: Self.chunk)
            for installation in found {
                guard page.add(installation, upTo: query.limit) else {
                    return .json(.ok, page.json(isLast: false))
                }
            }
            if found.count < Self.chunk { return .json(.ok, page.json(isLast: true)) }
            after = found.last?.id
        }
    }

    /// Installations per statement of the store: each may have 64 KiB.
    private static let chunk = 20

    /// Removes the caller's devices from the hub and the store.
    @Sendable func removeAll(_ request: Request, context: some RequestContext) async throws -> Response {
        let user = try await users.user(of: request, context)
        try await context.askingHub { try await changes.removeAll(of: user) }
        return Response(status: .noContent)
    }
}

/// The query of the list: `After` and `Limit`.
private struct InstallationListQuery {
    let after: String?
    let limit: Int

    /// - Throws: ``Problem`` 422, naming every invalid parameter.
    init(query: String?) throws(Problem) {
        var parameters = QueryParameters(query, known: ["After", "Limit"])
        after = parameters.take("After", DeviceID.requirement) { DeviceID.isRemovable($0) ? $0 : nil }
        limit = parameters.takeNumber("Limit", in: 1...Installation.maxPerUser) ?? Installation.maxPerUser
        try parameters.check()
    }
}

/// A page of installations: the hub's own form of each, with `UpdatedAt` and `LastSeenAt`.
private struct InstallationPage {
    private var entries: [Installation] = []
    private var bytes = 0

    /// A page with more bytes ends early, and has a next one.
    private static let maxBytes = 1 << 20

    /// - Returns: false if the page is full.
    mutating func add(_ installation: Installation, upTo limit: Int) -> Bool {
        guard entries.count < limit, entries.isEmpty || bytes + installation.document.count <= Self.maxBytes
        else { return false }
        entries.append(installation)
        bytes += installation.document.count
        return true
    }

    /// `{"Installations":[…],"Next"}`, without `Next` on the last page.
    func json(isLast: Bool) -> [UInt8] {
        var json = JSONWriter(capacity: bytes + entries.count * 96 + 64)
        json.object { json in
            json.array("Installations") { json in
                for entry in entries { json.json(entry.listEntry) }
            }
            if !isLast, let last = entries.last { json.member("Next", last.id) }
        }
        return json.bytes
    }
}

extension Installation {
    /// The document with two more members. The time of the last contact is rounded to the day, so that the list does
    /// not show when a person uses the device.
    fileprivate var listEntry: [UInt8] {
        // The document is an object that this service has written, so it ends with a brace and has members.
        let members = document.first == UInt8(ascii: "{") ? document.dropLast() : Array("{".utf8)[...]
        let times = #""UpdatedAt":"\#(updatedAt)","LastSeenAt":"\#(lastSeenAt.startOfDay)"}"#
        return members + (members.count > 1 ? [UInt8(ascii: ",")] : []) + Array(times.utf8)
    }
}
