public import Foundation

/// The inbox and the devices, for an app's own screens.
extension SecurePushClient {
    /// A page of the user's notifications, oldest first.
    ///
    /// - Parameters:
    ///   - after: the page begins after this notification. For the next page, take the ID of the last entry.
    ///   - isUnreadOnly: leaves out what was read.
    ///   - includesSecrets: whether the entries have their secrets. The server marks all of them as read then, and a page
    ///     has at most 20. Without them nothing is marked.
    /// - Throws: ``SecurePushFailure``.
    public func inbox(
        after: PushID? = nil, isUnreadOnly: Bool = false, includesSecrets: Bool = false
    ) async throws -> InboxPage {
        let deadline = begin().deadline
        let limit = includesSecrets ? configuration.limits.maxSecretsPerPage : InboxAnswer.maxEntries
        var query = [(name: "Limit", value: "\(limit)")]
        if includesSecrets {
            query.insert(("include", "payload"), at: 0)
            // The stored keys must belong to the user who is logged in.
            do { try await adoptUser() } catch { throw SecurePushFailure(code: .locked) }
        }
        if isUnreadOnly { query.append(("Unread", "true")) }
        if let after { query.append(("After", after.rawValue)) }
        let answer = try await page(query, until: deadline)
        var entries: [InboxPage.Entry] = []
        for entry in answer.entries {
            var row = InboxPage.Entry(id: entry.id, createdAt: entry.createdAt, isRead: entry.isRead)
            if let secret = entry.secret {
                do { row.secret = try await opened(secret) } catch { row.code = error.code }
            }
            entries.append(row)
        }
        if includesSecrets { await noteRead(entries.compactMap(\.secret?.id), until: deadline) }
        return InboxPage(entries: entries, unread: answer.unread, hasNext: answer.hasNext)
    }

    /// Fetches a notification for a screen of the app, marks it as read, and sets the badge. What is end-to-end
    /// encrypted is opened. Nothing is shown.
    ///
    /// - Throws: ``SecurePushFailure``: `SP-404` and `SP-410` if the user has no such notification any more, `SP-EXPIRED`
    ///   if it has expired.
    public func read(_ id: PushID) async throws -> SecretNotification {
        let deadline = begin().deadline
        // The stored key must belong to the user who is logged in.
        do { try await adoptUser() } catch { throw SecurePushFailure(code: .locked) }
        let call = RetrievalCall(path: "api/notifications/\(id)", query: [("include", "unread")])
        let response = try await connection.send(call, until: deadline).response()
        let answer: SecretAnswer
        do { answer = try SecretAnswer(response.body, for: id) } catch { throw SecurePushFailure(code: error.code) }
        if let unread = answer.unread { await setBadge(unread) }
        let secret = try await opened(answer.secret)
        await noteRead([id], until: deadline)
        return secret
    }

    private func opened(_ secret: SecretNotification) async throws(SecurePushFailure) -> SecretNotification {
        switch await open(secret) {
        case .opened(let opened) where hasExpired(opened): throw SecurePushFailure(code: .expired)
        case .opened(let opened): return opened
        case .closed(let code), .failed(let code): throw SecurePushFailure(code: code)
        case .locked: throw SecurePushFailure(code: .locked)
        }
    }

    /// Notes that the user sees secrets in the app. The server learns it of those that the system did not get.
    private func noteRead(_ ids: [PushID], until deadline: TimeInterval) async {
        let isNew = try? await keeper.update { state in
            let read = ids.filter { state.ledger.markInAppOnly($0, false) }
            for id in read { state.report(ShownReport(id)) }
            return !read.isEmpty
        }
        // Reports are sent in the background.
        if isNew == true { Task { await reportShown(until: deadline) } }
    }

    /// The user's devices, in the order of their IDs.
    ///
    /// - Throws: ``SecurePushFailure``.
    public func devices() async throws -> [UserDevice] {
        let deadline = begin().deadline
        let own = (try? await keeper.read())?.registration.installationID.map(Self.text)
        var (devices, after): ([UserDevice], String?) = ([], nil)
        // A user has at most 100.
        for _ in 0..<Self.maxDevicePages {
            var query = [(name: "Limit", value: "\(DevicesAnswer.maxEntries)")]
            if let after { query.append(("After", after)) }
            let call = RetrievalCall(path: "api/installations", query: query)
            let response = try await connection.send(call, until: deadline).response()
            let page: DevicesAnswer
            do { page = try DevicesAnswer(response.body, own: own) } catch {
                throw SecurePushFailure(code: error.code)
            }
            devices += page.devices
            guard page.hasNext, let last = page.devices.last?.id, last != after else { break }
            after = last
        }
        return devices
    }

    /// Removes one of the user's devices, such as one that was lost. It gets no more pushes. Its session ends when its
    /// token expires. For this device it is ``unregister()``.
    ///
    /// - Parameter id: the installation's ID.
    /// - Throws: ``SecurePushFailure``; `SP-404` if the text cannot be an ID.
    public func removeDevice(_ id: UserDevice.ID) async throws {
        guard UserDevice.isID(id) else { throw SecurePushFailure(code: .status(404)) }
        let own = (try? await keeper.read())?.registration.installationID.map(Self.text)
        if UserDevice.isSame(id, own) {
            try await unregister()
            return
        }
        let call = RetrievalCall(method: "DELETE", path: "api/installations/\(id)", success: 204)
        switch await connection.send(call, until: begin().deadline) {
        case .refused(404), .refused(410): break
        case let outcome: try outcome.response()
        }
    }

    /// Removes all of the user's devices from the server, and logs the user out here. No other device gets pushes until
    /// it registers again, which its session still allows until its token expires.
    ///
    /// - Throws: ``SecurePushFailure`` if the server does not confirm it. Then nothing has changed here.
    public func signOutEverywhere() async throws {
        try await afterLastRegistration { client in try await client.signOutEverywhereNow() }
    }

    private func signOutEverywhereNow() async throws {
        let call = RetrievalCall(method: "DELETE", path: "api/devices", success: 204)
        try await connection.send(call, until: begin().deadline).response()
        _ = try await leave(endsSession: true)
    }

    private static let maxDevicePages = 10
}

/// A page of the inbox.
public struct InboxPage: Sendable, Equatable {
    /// A notification.
    public struct Entry: Sendable, Equatable, Identifiable {
        /// The ID for ``SecurePushClient/read(_:)``.
        public let id: PushID
        /// When it was sent; `nil` if the server did not say.
        public let createdAt: Date?
        /// Whether one of the user's devices has read it.
        public let isRead: Bool
        /// The secret, if it was asked for and can be read.
        public internal(set) var secret: SecretNotification?
        /// Why there is no secret, if it was asked for, such as `SP-KEY`.
        public internal(set) var code: DiagnosticCode?
    }

    /// The notifications, oldest first.
    public let entries: [Entry]
    /// The number of all unread notifications.
    public let unread: Int
    /// Whether there is another page.
    public let hasNext: Bool
}

/// One of the user's devices.
public struct UserDevice: Sendable, Hashable, Identifiable {
    /// The installation's ID.
    public let id: String
    /// The platform, as the hub names it, such as `apns`.
    public let platform: String
    /// The day on which it was last registered; `nil` if the server did not say.
    public let lastSeenAt: Date?
    /// Whether it is this device.
    public let isThisDevice: Bool

    /// The ID becomes a part of a path: 1 to 128 of `A-Z a-z 0-9 - _ .`, not only dots.
    static func isID(_ text: String) -> Bool {
        let bytes = text.utf8
        return (1...128).contains(bytes.count) && bytes.contains { $0 != UInt8(ascii: ".") }
            && bytes.allSatisfy { $0 == UInt8(ascii: ".") || PushID.isAllowed($0) }
    }

    /// Whether two IDs are the same. The server compares them without regard to case.
    static func isSame(_ id: String, _ other: String?) -> Bool { id.lowercased() == other?.lowercased() }
}
