import SecurePushCore

/// A line of the batch route's answer: a notification that was accepted, or a problem document.
enum BatchAnswerLine: Sendable, Equatable {
    case accepted(NotificationID)
    case failed(String)
    /// Refused for what it is, as every other line would be.
    case refused(APIAnswer)

    var result: PushResult {
        switch self {
        case .accepted(let id): .accepted(id)
        case .failed(let reason): .failed(reason)
        case .refused(let answer): .failed("\(answer.status)")
        }
    }

    private struct Line: Decodable {
        var Id: String?
        var status: Int?
    }

    /// The first bytes of an accepted line, as ingest writes it.
    private static let beginning = Array(#"{"Id":""#.utf8)

    static func read(_ line: some Collection<UInt8>) -> BatchAnswerLine {
        // Decoding a million lines would make the client the slowest part of the test.
        if line.starts(with: beginning) {
            let rest = line.dropFirst(beginning.count)
            let isWhole = rest.dropFirst(36).first == UInt8(ascii: "\"")
            if isWhole, let id = NotificationID(utf8: rest.prefix(36)) { return .accepted(id) }
        }
        let text = String(decoding: line, as: UTF8.self)
        guard let line = try? JSONText.decode(Line.self, from: text) else { return .failed("an unreadable answer") }
        if let id = line.Id.flatMap({ NotificationID($0) }) { return .accepted(id) }
        guard let status = line.status else { return .failed("an answer without an ID") }
        return isRefusal(status) ? .refused(APIAnswer(status: status, body: text)) : .failed("\(status)")
    }

    /// Whether a status is about what was asked, not about the moment: all requests of a load test ask the same.
    static func isRefusal(_ status: Int) -> Bool { (400..<500).contains(status) && status != 408 && status != 429 }
}
