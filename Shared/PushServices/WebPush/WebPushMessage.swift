import Foundations

/// One push as it is sent: checked, encrypted, and without the header that names our key.
struct WebPushMessage: Sendable {
    let destination: PushDestination
    private let body: [UInt8]
    private let timeToLive: Int64
    private let urgency: String
    var topic: String?

    /// The longest time that Google keeps a push, four weeks; the default too.
    private static let maxTimeToLive: Int64 = 2_419_200
    private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]
    private static let topicBytes = ByteSet.alphanumerics.union(ByteSet("-_"))

    init(_ request: PushRequest, destinations: PushDestinations, now: Timestamp) throws(PushRefusal) {
        guard case .subscription(let endpoint, let p256dh, let auth) = request.address else {
            throw PushRefusal(.wrongAddress, "not a subscription")
        }
        do {
            destination = try destinations.destination(endpoint)
        } catch {
            throw PushRefusal(error == .notAllowed ? .notAllowed : .wrongAddress, "the endpoint is \(error)")
        }
        let keys: WebPushSubscription
        do {
            keys = try WebPushSubscription(p256dh: p256dh, auth: auth)
        } catch {
            throw PushRefusal(.wrongAddress, error == .auth ? "auth is not 16 bytes" : "p256dh is not a point on P-256")
        }
        // RFC 8030, section 5.2.
        timeToLive = min(try request.timeToLive(header: "ttl", now: now) ?? .max, Self.maxTimeToLive)
        urgency = request.headers["urgency"] ?? "normal"
        guard Self.urgencies.contains(urgency) else { throw PushRefusal(.invalid, "BadUrgency") }
        topic = request.headers["topic"]
        if let topic, !(1...32).contains(topic.utf8.count) || !Self.topicBytes.containsAll(topic) {
            throw PushRefusal(.invalid, "BadTopic")
        }
        do {
            guard let body = try WebPushEncryption.encrypt(request.body, for: keys) else {
                throw PushRefusal(.failed(after: nil), "out of memory")
            }
            self.body = body
        } catch let refusal as PushRefusal {
            throw refusal
        } catch {
            throw PushRefusal(.tooLarge, "more than 3993 bytes")
        }
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
