import Foundations

/// One push as it is sent: checked, encrypted, and without the header that names our key.
struct WebPushMessage: Sendable {
    let destination: PushDestination
    private let body: [UInt8]
    private let timeToLive: Int64
    private let urgency: String
    var topic: String?

    /// The push is not sent, for the reason in the result.
    struct Refusal: Error {
        let result: PushResult

        init(_ answer: PushAnswer, _ reason: String) { result = PushResult(answer, reason: reason) }
    }

    /// The longest time that Google keeps a push, four weeks; the default too.
    private static let maxTimeToLive: Int64 = 2_419_200
    private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]
    private static let topicBytes = ByteSet.alphanumerics.union(ByteSet("-_"))

    init(_ request: PushRequest, destinations: PushDestinations, now: Timestamp) throws(Refusal) {
        guard case .subscription(let endpoint, let p256dh, let auth) = request.address else {
            throw Refusal(.wrongAddress, "not a subscription")
        }
        do {
            destination = try destinations.destination(endpoint)
        } catch {
            throw Refusal(error == .notAllowed ? .notAllowed : .wrongAddress, "the endpoint is \(error)")
        }
        let keys: WebPushSubscription
        do {
            keys = try WebPushSubscription(p256dh: p256dh, auth: auth)
        } catch {
            throw Refusal(.wrongAddress, error == .auth ? "auth is not 16 bytes" : "p256dh is not a point on P-256")
        }
        timeToLive = try Self.timeToLive(request, now: now)
        urgency = request.headers["urgency"] ?? "normal"
        guard Self.urgencies.contains(urgency) else { throw Refusal(.invalid, "BadUrgency") }
        topic = request.headers["topic"]
        if let topic, !(1...32).contains(topic.utf8.count) || !Self.topicBytes.containsAll(topic) {
            throw Refusal(.invalid, "BadTopic")
        }
        do {
            guard let body = try WebPushEncryption.encrypt(request.body, for: keys) else {
                throw Refusal(.failed(after: nil), "out of memory")
            }
            self.body = body
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(.tooLarge, "more than 3993 bytes")
        }
    }

    /// Seconds (RFC 8030, section 5.2), not beyond the end of the push. In the last second it is 1: some push services
    /// refuse 0.
    private static func timeToLive(_ request: PushRequest, now: Timestamp) throws(Refusal) -> Int64 {
        var seconds = maxTimeToLive
        if let text = request.headers["ttl"] {
            guard (1...10).contains(text.utf8.count), ByteSet.digits.containsAll(text), let wanted = Int64(text) else {
                throw Refusal(.invalid, "BadTtl")
            }
            seconds = min(seconds, wanted)
        }
        guard let end = request.expiresAt else { return seconds }
        let left = (end - now).milliseconds
        guard left > 0 else { throw Refusal(.invalid, "expired") }
        return min(seconds, max(1, left / 1_000))
    }

    /// The request with a token of RFC 8292.
    func request(authorization: String) -> PushHTTPRequest {
        var headers = [
            PushHTTPField("ttl", String(timeToLive), indexing: .notIndexed), PushHTTPField("urgency", urgency),
            PushHTTPField("content-encoding", "aes128gcm"), PushHTTPField("content-type", "application/octet-stream"),
            // One token serves all pushes to a push service for hours.
            PushHTTPField("authorization", authorization),
        ]
        if let topic { headers.append(PushHTTPField("topic", topic, indexing: .notIndexed)) }
        // Without it Microsoft's service refuses a push that it may not keep.
        if timeToLive == 0, destination.origin.host.hasSuffix(".notify.windows.com") {
            headers.append(PushHTTPField("x-wns-cache-policy", "no-cache"))
        }
        return PushHTTPRequest(origin: destination.origin, path: destination.path, headers: headers, body: body)
    }
}
