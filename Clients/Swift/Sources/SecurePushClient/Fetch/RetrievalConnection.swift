import Foundation

/// Sends requests to the retrieval service by the fetch plan.
struct RetrievalConnection: Sendable {
    let baseURL: URL
    let limits: ClientLimits
    let credentials: any CredentialsProvider
    let transport: any Transport
    let clock: any ClientClock

    enum Outcome: Sendable {
        /// A success of the form that the route has.
        case success(TransportResponse)
        /// Another status, after all tries.
        case refused(status: Int)
        /// No response of the server.
        case failed(DiagnosticCode)
        /// The user has to log in.
        case loggedOut(DiagnosticCode)
        /// The credentials cannot be read before the first unlock.
        case locked

        /// The response of a success.
        ///
        /// - Throws: every other outcome.
        @discardableResult
        func response() throws(SecurePushFailure) -> TransportResponse {
            switch self {
            case .success(let response): return response
            case .refused(let status): throw SecurePushFailure(code: .status(status))
            case .failed(let code), .loggedOut(let code): throw SecurePushFailure(code: code)
            case .locked: throw SecurePushFailure(code: .locked)
            }
        }
    }

    /// The same connection to another server, with other credentials.
    func to(_ url: URL, with credentials: any CredentialsProvider) -> RetrievalConnection {
        RetrievalConnection(
            baseURL: url, limits: limits, credentials: credentials, transport: transport, clock: clock)
    }

    /// Sends a request until it succeeds or the plan gives up.
    ///
    /// - Parameter deadline: the ``ClientClock/uptime`` at which it ends.
    func send(_ call: RetrievalCall, until deadline: TimeInterval) async -> Outcome {
        await sendCounting(call, until: deadline).outcome
    }

    /// Sends a request like ``send(_:until:)``, and counts the tries whose answer was lost: the server may have carried
    /// out each of them.
    func sendCounting(_ call: RetrievalCall, until deadline: TimeInterval) async -> (outcome: Outcome, lost: Int) {
        var lost = 0
        let outcome = await send(call, until: deadline, &lost)
        return (outcome, lost)
    }

    private func send(_ call: RetrievalCall, until deadline: TimeInterval, _ lost: inout Int) async -> Outcome {
        var plan = FetchPlan(deadline: deadline, secondsPerTry: limits.secondsPerTry)
        var refused: ClientCredentials?
        while true {
            guard plan.timeout(at: clock.uptime) != nil else { return .failed(.timedOut) }
            let event: FetchPlan.Event
            let ending: Outcome
            var used: ClientCredentials?
            do {
                if call.isAuthorized {
                    used = try await credentials(after: refused, until: deadline)
                    guard used != nil else { return .loggedOut(refused == nil ? .loggedOut : .status(401)) }
                    refused = nil
                }
                // A refresh of the credentials may have taken long.
                guard let timeout = plan.timeout(at: clock.uptime) else { return .failed(.timedOut) }
                guard let request = call.request(to: baseURL, with: used) else { return .failed(.unreachable) }
                lost += 1
                let response = try await transport.send(
                    request, timeout: timeout, maxBytes: limits.maxAnswerBytes, on: clock)
                let isSuccess = response.isSuccess(of: call)
                let isOther2xx = !isSuccess && (200..<300).contains(response.status)
                // The server may have carried out what somebody else has answered with a success.
                if !isOther2xx, !Self.mayHideASuccess(response.status) { lost -= 1 }
                if isSuccess { return .success(response) }
                if isOther2xx || response.isForeignRefusal(isAuthorized: call.isAuthorized) {
                    return .failed(.malformedAnswer)
                }
                event = .response(status: response.status, retryAfter: retryAfter(response))
                ending =
                    response.status == 401 && call.isAuthorized
                    ? .loggedOut(.status(401)) : .refused(status: response.status)
            } catch ClientStoreError.locked {
                return .locked
            } catch let error as TransportError {
                (event, ending) = (.transport(error), .failed(error.code))
            } catch is CancellationError {
                return .failed(.timedOut)
            } catch is CredentialsUnavailable {
                (event, ending) = (.noCredentials, .failed(.credentials))
            } catch {
                (event, ending) = (.transport(.unreachable), .failed(.unreachable))
            }
            guard call.isRetried else { return ending }
            switch plan.step(after: event, at: clock.uptime) {
            case .finish: return ending
            case .refreshCredentials:
                guard call.isAuthorized else { return ending }
                refused = used
            case .retry(let delay):
                guard (try? await clock.sleep(for: delay)) != nil else { return ending }
            }
        }
    }

    /// Whether the server may have carried out a request that has this answer: a proxy's 504 says nothing of the server
    /// behind it.
    private static func mayHideASuccess(_ status: Int) -> Bool { status == 408 || status >= 500 }

    private struct CredentialsUnavailable: Error {}

    /// The credentials, or new ones after a refusal.
    private func credentials(
        after refused: ClientCredentials?, until deadline: TimeInterval
    ) async throws -> ClientCredentials? {
        let provider = credentials
        do {
            return try await TimeLimit.run(until: deadline, on: clock) {
                guard let refused else { return try await provider.credentials() }
                return try await provider.refresh(after: refused)
            }
        } catch ClientStoreError.locked {
            throw ClientStoreError.locked
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw CredentialsUnavailable()
        }
    }

    /// The seconds of `Retry-After`; `nil` if there is none that can be used.
    private func retryAfter(_ response: TransportResponse) -> TimeInterval? {
        response.headers["retry-after"].flatMap { RetryAfter.seconds($0, at: clock.date) }
    }
}
