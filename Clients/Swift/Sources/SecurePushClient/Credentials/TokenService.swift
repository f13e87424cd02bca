import Foundation

/// `POST /api/token` and `DELETE /api/token` of the retrieval service.
struct TokenService: Sendable {
    let retrievalURL: URL
    let transport: any Transport
    let clock: any ClientClock

    private struct Answer: Decodable {
        var access_token: String
        var expires_in: Double?
        var refresh_token: String?
    }

    /// Gets tokens for a password.
    ///
    /// - Parameter keepsPassword: whether the password takes their place if the server issues none. A request shows
    ///   whether it is right.
    /// - Throws: ``SecurePushFailure``.
    func logIn(userName: String, password: String, keepsPassword: Bool) async throws -> StoredCredentials {
        let basic = ClientCredentials.basic(userName: userName, password: password)
        let response = try await send("POST", with: basic)
        guard keepsPassword, response.status == 404, response.isOwnRefusal else {
            return try credentials(of: userName, in: response)
        }
        let call = RetrievalCall(path: "api/notifications", query: [("Limit", "1")])
        let proof = try await send(call, with: basic)
        guard proof.isSuccess(of: call) else {
            let isOwn = proof.status == 401 ? proof.isOwnUnauthorized : proof.isOwnRefusal
            throw SecurePushFailure(code: isOwn && proof.status != 200 ? .status(proof.status) : .malformedAnswer)
        }
        return StoredCredentials(userName: userName, password: password)
    }

    /// Exchanges a refresh token; `nil` if it cannot be used any more.
    ///
    /// - Throws: ``SecurePushFailure`` if the server has not decided, for example because there is no connection.
    func refresh(_ token: String, of userName: String) async throws -> StoredCredentials? {
        let response = try await send("POST", body: ["grant_type": "refresh_token", "refresh_token": token])
        return response.endsSession ? nil : try credentials(of: userName, in: response)
    }

    /// Ends a session. If that fails, its token expires later.
    ///
    /// - Returns: whether somebody has answered.
    @discardableResult
    func end(_ token: String) async -> Bool {
        (try? await send("DELETE", body: ["grant_type": "refresh_token", "refresh_token": token])) != nil
    }

    private func credentials(of userName: String, in response: TransportResponse) throws -> StoredCredentials {
        // A 401 of a proxy does not say that the password is wrong.
        let isOwn =
            response.status == 200 ? response.hasOwnForm : response.status != 401 || response.isOwnUnauthorized
        guard isOwn else { throw SecurePushFailure(code: .malformedAnswer) }
        guard response.status == 200 else { throw SecurePushFailure(code: .status(response.status)) }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: response.body), !answer.access_token.isEmpty,
            answer.expires_in.map({ (1...Self.maxLifetime).contains($0) }) ?? true
        else { throw SecurePushFailure(code: .malformedAnswer) }
        return StoredCredentials(
            userName: userName, accessToken: answer.access_token,
            expiresAt: answer.expires_in.map { clock.date.timeIntervalSince1970 + $0 },
            refreshToken: answer.refresh_token)
    }

    private func send(
        _ method: String, with credentials: ClientCredentials? = nil, body: [String: String]? = nil
    ) async throws -> TransportResponse {
        let json = try body.map { try JSONEncoder().encode($0) }
        return try await send(RetrievalCall(method: method, path: "api/token", json: json), with: credentials)
    }

    private func send(_ call: RetrievalCall, with credentials: ClientCredentials?) async throws -> TransportResponse {
        guard let request = call.request(to: retrievalURL, with: credentials) else {
            throw SecurePushFailure(code: .unreachable)
        }
        do {
            return try await transport.send(request, timeout: Self.timeout, maxBytes: Self.maxBytes, on: clock)
        } catch let error as TransportError {
            throw SecurePushFailure(code: error.code)
        }
    }

    private static let timeout: TimeInterval = 8
    private static let maxBytes = 64 << 10
    /// A hundred years, in seconds.
    private static let maxLifetime: Double = 100 * 366 * 86_400
}
