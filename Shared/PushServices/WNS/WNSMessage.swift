import Crypto
import Foundations

/// One push as it is sent to WNS: checked, and without the access token.
struct WNSMessage: Sendable {
    private let destination: PushDestination
    private let headers: [PushHTTPField]
    private let body: [UInt8]

    private static let maxBody = 5_000
    private static let types: Set<String> = ["wns/raw", "wns/toast", "wns/tile", "wns/badge"]
    /// The connector writes these itself.
    private static let own: Set<String> = ["x-wns-type", "x-wns-ttl", "x-wns-requestforstatus"]
    /// More headers of the send, or longer names, might not fit into a request beside channel and access token.
    private static let maxHeaders = 12
    private static let maxName = 64
    /// A template brings headers of the device's choice, with any text as their names.
    private static let nameBytes = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789-_")
    private static let valueBytes = ByteSet(0x20...0x7E)

    init(_ request: PushRequest, destinations: PushDestinations, now: Timestamp) throws(PushRefusal) {
        guard case .handle(let channel) = request.address else { throw PushRefusal(.wrongAddress, "not a channel") }
        do {
            destination = try destinations.destination(channel)
        } catch {
            throw PushRefusal(error == .notAllowed ? .notAllowed : .wrongAddress, "the channel is \(error)")
        }
        guard let type = request.headers["x-wns-type"]?.lowercased(), Self.types.contains(type) else {
            throw PushRefusal(.invalid, "BadType")
        }
        guard request.body.count <= Self.maxBody else {
            throw PushRefusal(.tooLarge, "more than \(Self.maxBody) bytes")
        }
        var headers = [
            PushHTTPField("content-type", type == "wns/raw" ? "application/octet-stream" : "text/xml"),
            PushHTTPField("x-wns-type", type), PushHTTPField("x-wns-requestforstatus", "true"),
        ]
        if let seconds = try request.timeToLive(header: "x-wns-ttl", now: now) {
            headers.append(PushHTTPField("x-wns-ttl", String(seconds)))
        }
        // Tag, group, priority, cache policy and others.
        let others = request.headers.filter { name, _ in
            name.utf8.starts(with: "x-wns-".utf8) && !Self.own.contains(name)
        }
        guard others.count <= Self.maxHeaders else { throw PushRefusal(.invalid, "BadHeader") }
        for (name, value) in others {
            let value = OutsideText.trimmed(value)
            guard name.utf8.count <= Self.maxName, Self.nameBytes.containsAll(name),
                (1...256).contains(value.utf8.count), Self.valueBytes.containsAll(value)
            else { throw PushRefusal(.invalid, "BadHeader") }
            headers.append(PushHTTPField(name, name == "x-wns-tag" ? Self.tag(value) : value))
        }
        self.headers = headers
        body = request.body
    }

    /// WNS takes at most 16 letters and digits. Another collapse key becomes 16 digits of its SHA-256, so that equal keys
    /// still replace each other.
    private static func tag(_ value: String) -> String {
        if value.utf8.count <= 16, ByteSet.alphanumerics.containsAll(value) { return value }
        return SHA256.hash(data: Array(value.utf8)).prefix(8).hex
    }

    func request(token: String) -> PushHTTPRequest {
        PushHTTPRequest(
            origin: destination.origin, path: destination.path,
            headers: headers + [PushHTTPField("authorization", "Bearer \(token)")], body: body)
    }
}
