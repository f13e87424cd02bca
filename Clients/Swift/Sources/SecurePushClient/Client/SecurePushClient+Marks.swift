import Foundation

extension SecurePushClient {
    /// Marks notifications as read without fetching them, removes them from the screen, and sets the badge.
    ///
    /// - Parameter ids: unknown IDs change nothing. A thousand are sent at once.
    /// - Throws: ``SecurePushFailure``.
    public func markAsRead(_ ids: [PushID]) async throws {
        let deadline = begin().deadline
        for start in stride(from: 0, to: ids.count, by: Self.maxMarks) {
            let part = ids[start..<min(start + Self.maxMarks, ids.count)].map(\.rawValue)
            try await mark(["Ids": part], until: deadline)
        }
        await finishReading(ids, until: deadline)
    }

    /// Removes read notifications from the screen, and sets the badge.
    func finishReading(_ ids: [PushID], until deadline: TimeInterval) async {
        let (now, limits) = (clock.uptime, configuration.limits)
        // The next wake must not show them.
        _ = try? await keeper.update { state in
            for id in ids { state.ledger.withdraw(id, at: now, limits) }
        }
        await presenter.remove(ids)
        await refreshBadge(until: deadline)
    }

    /// Marks all notifications up to this one as read, and sets the badge.
    ///
    /// - Throws: ``SecurePushFailure``.
    public func markAsRead(through id: PushID) async throws {
        let deadline = begin().deadline
        try await mark(["Through": id.rawValue], until: deadline)
        await refreshBadge(until: deadline)
    }

    private func mark(_ body: some Encodable, until deadline: TimeInterval) async throws(SecurePushFailure) {
        let call = RetrievalCall(
            method: "POST", path: "api/notifications/read", json: try? JSONEncoder().encode(body), success: 204)
        try await connection.send(call, until: deadline).response()
    }

    /// Asks for the number of unread notifications. A failure leaves the badge as it is.
    private func refreshBadge(until deadline: TimeInterval) async {
        let call = RetrievalCall(
            path: "api/notifications", query: [("Limit", "1"), ("Unread", "true")])
        guard case .success(let response) = await connection.send(call, until: deadline),
            let page = try? InboxAnswer(response.body)
        else { return }
        await setBadge(page.unread)
    }

    /// Tells the server which notifications this device shows, and where it shows the generic text and why. One wake does
    /// this for all wakes at the same time. A failure ends it until the next wake.
    ///
    /// The server knows a generic text by the installation that shows it, so one waits until the device is registered.
    func reportShown(until deadline: TimeInterval) async {
        guard !isReporting else { return }
        isReporting = true
        defer { isReporting = false }
        let end = min(deadline, clock.uptime + Self.secondsForReports)
        // A store that cannot be written keeps a report, so it is sent once.
        var reported: [ShownReport] = []
        while reported.count < Self.maxReports, let state = try? await keeper.read(),
            let report = state.unreported.first(where: { report in
                !reported.contains(report) && (report.text == .secret || state.registration.installationID != nil)
            })
        {
            reported.append(report)
            let body = ShownBody(report, device: state.registration.installationID.map(Self.text))
            let call = RetrievalCall(
                method: "POST", path: "api/notifications/\(report.id)/shown", json: try? JSONEncoder().encode(body),
                success: 204)
            switch await connection.send(call, until: end) {
            case .refused(408), .refused(429): return
            case .success, .refused(400..<500):
                _ = try? await keeper.update { $0.unreported.removeAll { $0 == report } }
            // A captive portal redirects: the report is still to be sent.
            case .refused, .failed, .loggedOut, .locked: return
            }
        }
    }

    /// The server's limit of IDs in one request.
    private static let maxMarks = 1_000
    /// How many shown notifications one wake reports.
    private static let maxReports = 50
    /// The longest time for the reports of one wake, in seconds.
    private static let secondsForReports: TimeInterval = 5
}

/// The body of a report, in the server's names.
private struct ShownBody: Encodable {
    let text: String
    let code: String?
    let device: String?

    init(_ report: ShownReport, device: String?) {
        (text, code, self.device) = (report.text.rawValue, report.code, device)
    }

    private enum CodingKeys: String, CodingKey {
        case text = "Text"
        case code = "Code"
        case sdk = "Sdk"
        case device = "DeviceId"
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(text, forKey: .text)
        try members.encodeIfPresent(code, forKey: .code)
        try members.encode("swift/\(SecurePushClient.version)", forKey: .sdk)
        try members.encodeIfPresent(device, forKey: .device)
    }
}
