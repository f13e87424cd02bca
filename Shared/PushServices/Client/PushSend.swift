import Foundations
import NIOCore

typealias PushHTTPResult = Result<PushHTTPResponse, PushHTTPFailure>

/// One request in the client.
final class PushSend: Sendable, Equatable {
    /// Names the request for cancellation.
    let number: UInt64
    let request: PushHTTPRequest
    let deadline: NIODeadline
    /// Whether a server has already said once that it did not process it.
    let isRepeated: Bool

    init(number: UInt64, request: PushHTTPRequest, deadline: NIODeadline, isRepeated: Bool = false) {
        self.number = number
        self.request = request
        self.deadline = deadline
        self.isRepeated = isRepeated
    }

    static func == (one: PushSend, other: PushSend) -> Bool { one === other }

    var repeated: PushSend { PushSend(number: number, request: request, deadline: deadline, isRepeated: true) }
}

/// Why a request ends before its answer is complete.
enum PushInterruption {
    case deadline
    case cancelled
    case closing

    var reason: String {
        switch self {
        case .deadline: "timeout"
        case .cancelled: "cancelled"
        case .closing: "the client is closing"
        }
    }
}

extension PushHTTPRequest {
    /// The maximum size of all fields and the path together, in bytes: servers take about as much.
    static let maxHead = 16_384

    private static let nameBytes = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~")
    private static let hostBytes = ByteSet.alphanumerics.union(ByteSet("-._:"))
    /// The client writes these itself, or they are of one connection only (RFC 9113, section 8.2.2).
    private static let reserved: Set<String> = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// Why the request cannot be written; `nil` if it can be.
    ///
    /// A line break in a field would make a second request of it in HTTP/1.1.
    var problem: String? {
        guard !origin.host.isEmpty, Self.hostBytes.containsAll(origin.host), (1...65_535).contains(origin.port) else {
            return "the origin is not valid"
        }
        guard path.utf8.first == UInt8(ascii: "/"), ByteSet.visible.containsAll(path) else {
            return "the path is not valid"
        }
        var size = path.utf8.count
        for field in headers {
            size += field.name.utf8.count + field.value.utf8.count
            guard !field.name.isEmpty, Self.nameBytes.containsAll(field.name), !Self.reserved.contains(field.name)
            else { return "the name of a header is not valid" }
            // RFC 9110, section 5.5.
            let isText = field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            guard isText, field.value.first != " ", field.value.last != " " else {
                return "the value of a header is not valid"
            }
        }
        return size <= Self.maxHead ? nil : "the headers are too large"
    }
}
