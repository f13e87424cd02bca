import NIOHTTP1

/// The header of a plain send, read in one pass; nil when it holds anything that the routes had better look at.
struct FastSendFields {
    private(set) var authority: String?
    private(set) var authorization: String?
    private(set) var contentLength: Int?
    private(set) var format: String?
    private(set) var tags: String?
    private(set) var trackingID: String?
    private(set) var correlationID: String?
    private(set) var requestID: String?
    /// All but `Host` and the token.
    private(set) var packed = PackedHeaders(reserving: 512)

    private enum Known {
        case host, authorization, contentLength, format, tags, trackingID, correlationID, requestID, connection
        /// What asks for more than an answer.
        case unusual
    }

    private static let known: [(name: [UInt8], field: Known)] = {
        let names: [(String, Known)] = [
            ("host", .host), ("authorization", .authorization), ("content-length", .contentLength),
            ("servicebusnotification-format", .format), ("servicebusnotification-tags", .tags),
            ("trackingid", .trackingID), ("x-ms-correlation-request-id", .correlationID),
            ("x-request-id", .requestID), ("connection", .connection), ("transfer-encoding", .unusual),
            ("expect", .unusual), ("upgrade", .unusual), ("trailer", .unusual), ("cookie", .unusual),
        ]
        return names.map { (name: Array($0.0.utf8), field: $0.1) }
    }()

    init?(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            let field = Self.known(name)
            guard Self.isPlain(value), take(field, value) else { return nil }
            if field != .host, field != .authorization { packed.append(name, value) }
        }
    }

    /// - Returns: false when the routes are to have the request.
    private mutating func take(_ field: Known?, _ value: String) -> Bool {
        switch field {
        case .host: Self.set(&authority, value)
        case .authorization: Self.set(&authorization, value)
        case .contentLength: Self.set(&contentLength, Int(value))
        case .format: Self.set(&format, value)
        case .tags: Self.set(&tags, value)
        case .trackingID: Self.set(&trackingID, value)
        case .correlationID: Self.set(&correlationID, value)
        case .requestID: Self.set(&requestID, value)
        case .connection: value.lowercased() == "keep-alive"
        case .unusual: false
        case nil: true
        }
    }

    /// False for a field that comes twice.
    private static func set<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
        guard field == nil, let value else { return false }
        field = value
        return true
    }

    private static func known(_ name: String) -> Known? {
        let bytes = name.utf8
        let count = bytes.count
        return known.first { $0.name.count == count && bytes.elementsEqual($0.name, by: { lower($0) == $1 }) }?.field
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// Visible ASCII and blanks within: what no reader changes.
    private static func isPlain(_ value: String) -> Bool {
        let bytes = value.utf8
        return bytes.first != 0x20 && bytes.last != 0x20 && bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
