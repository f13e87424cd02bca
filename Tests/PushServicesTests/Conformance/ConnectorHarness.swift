import PushServices

/// A connector, and a push service of its kind on loopback, for ``ConnectorConformance``.
protocol ConnectorHarness: Sendable {
    var connector: any PushConnector { get }

    /// A push to a device that the service knows, with a body from which ``taken()`` finds the text again.
    func request(_ text: String) async throws -> PushRequest

    /// A push to a device that the service does not know any more.
    func requestToGoneDevice() async throws -> PushRequest

    /// A push whose body is larger than the service takes.
    func tooLargeRequest() async throws -> PushRequest

    /// The texts of the pushes that the service has taken, in their order.
    func taken() async throws -> [String]

    /// The number of requests that have reached the service.
    func received() async throws -> Int

    /// What the service does with the next requests, one answer for each. An answer must have the form that the real
    /// service gives it. ``ServiceAnswer/credentialRefused`` holds for as many requests as the connector needs to give
    /// up.
    func prepare(_ answers: [ServiceAnswer]) async throws

    /// The wait after too many requests, where the service names none.
    var waitWhenThrottled: Duration? { get }

    /// The meaning of ``ServiceAnswer/credentialRefused``.
    var answerToRefusedCredentials: PushAnswer { get }
}

extension ConnectorHarness {
    /// The hub decides.
    var waitWhenThrottled: Duration? { nil }

    var answerToRefusedCredentials: PushAnswer { .credentialRefused }
}

/// What a push service does with a request in place of taking it.
enum ServiceAnswer: Sendable, Hashable {
    /// Too many requests, with the time after which to try again, in seconds.
    case throttled(after: Int?)
    /// A 503, with the time after which to try again, in seconds.
    case unavailable(after: Int?)
    case serverError
    case credentialRefused
    /// A 307 to another place, where nothing may arrive.
    case redirect
    /// It takes the push and resets the stream before the answer.
    case lost
    /// It takes the push, and the connection ends in the middle of the body of the answer.
    case half
    /// Nothing comes back, and the push is not taken.
    case silence
    /// The connection ends, and the push is not taken.
    case close
    /// A GOAWAY that says that this request was not processed. With HTTP/1.1 as ``close``.
    case goAway
    /// It takes the push, and the body of the answer has 10 MB.
    case huge
    /// It takes the push, and the answer comes after half a second.
    case slow
}
