import Foundation

/// A log-out that is not over: this device may still have to forget the user, or the server has still to be told.
///
/// It is stored with the credentials, so that one write ends the session and begins the log-out.
struct Departure: Codable, Sendable, Hashable {
    /// Names this log-out.
    let id: UUID
    /// The user; `nil` if the user is unknown.
    let user: UserName?
    /// The installation that the server has to remove; `nil` if there is none.
    let installationID: UUID?
    /// The server that has it.
    let retrievalURL: URL
    /// When the user left, in seconds since 1970.
    let leftAt: Double
    /// Whether the device has forgotten the user: screen, ledger and key.
    var isForgotten = false
    /// The token for the removal.
    var accessToken: String?
    /// The token of the session that is to be ended. It was moved here from the credentials, because it can be used
    /// only once.
    var refreshToken: String?

    /// Whether there is nothing more to do on this device and it is too late for the server, which then keeps the
    /// installation until it is stale. No token is kept longer.
    ///
    /// - Parameter date: now. A clock that went back by more than the limit ends it, too.
    func isOver(at date: Date) -> Bool {
        isForgotten && abs(date.timeIntervalSince1970 - leftAt) > Self.maxAge
    }

    /// A day, in seconds.
    static let maxAge: Double = 86_400
    /// The maximum number that is kept.
    static let maxCount = 4
}

extension StoredCredentials {
    /// Nobody, with the log-outs that are not over; `nil` if there are none.
    static func nobody(_ departures: [Departure]?) -> StoredCredentials? {
        guard let departures, !departures.isEmpty else { return nil }
        var nobody = StoredCredentials(userName: "")
        nobody.departures = departures
        return nobody
    }

    /// Whether there is a user, and not only a log-out that is not over.
    var isOfUser: Bool { !userName.isEmpty }

    /// The credentials without the log-outs of other sessions; `nil` without a user.
    var session: StoredCredentials? {
        guard isOfUser else { return nil }
        var session = self
        session.departures = nil
        return session
    }

    /// The same session with other log-outs.
    func with(_ departures: [Departure]?) -> StoredCredentials {
        var copy = self
        copy.departures = departures
        return copy
    }
}

extension Optional<StoredCredentials> {
    /// Begins a log-out.
    ///
    /// - Parameter endsSession: whether the credentials go, too.
    func leaving(_ departure: Departure, endsSession: Bool) -> StoredCredentials? {
        var departure = departure
        let session = self?.session
        if let session, departure.user == UserName(session.userName) { departure.accessToken = session.accessToken }
        var departures = self?.departures ?? []
        departures.append(departure)
        if departures.count > Departure.maxCount { departures.removeFirst() }
        let next = session?.with(departures) ?? StoredCredentials.nobody(departures)
        return endsSession ? next.ended() : next
    }

    /// Ends the session. A log-out of the same user that is not over gets the refresh token.
    func ended() -> StoredCredentials? {
        var departures = self?.departures ?? []
        if let session = self?.session,
            let index = departures.lastIndex(where: { $0.user == UserName(session.userName) })
        {
            departures[index].accessToken = session.accessToken ?? departures[index].accessToken
            departures[index].refreshToken = session.refreshToken ?? departures[index].refreshToken
        }
        return .nobody(departures)
    }

    /// Changes a log-out; `nil` removes it.
    func changing(_ id: UUID, _ change: (Departure) -> Departure?) -> StoredCredentials? {
        guard let self else { return nil }
        let departures = (self.departures ?? []).compactMap { $0.id == id ? change($0) : $0 }
        let kept = departures.isEmpty ? nil : departures
        return self.session?.with(kept) ?? StoredCredentials.nobody(kept)
    }
}
