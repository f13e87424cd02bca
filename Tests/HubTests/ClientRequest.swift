import Foundations
import Testing

@testable import Hub

/// One row of the table: an operation as one client sends it, and what must come back.
struct ClientRequest: Sendable, CustomTestStringConvertible {
    let operation: String
    let style: ClientStyle
    let method: String
    /// Path and query. `{MESSAGE}` stands for the ID of a send, `{PAGE}` for a continuation token.
    let target: String
    /// Nil where the client sends none.
    var type: String?
    var headers: [String] = []
    var body: String?
    let status: Int
    /// What the answer's body holds; `!` in front: what it does not.
    var holds: [String] = []
    /// Headers of the answer, by how their values begin.
    var answers: [String: String] = [:]

    var testDescription: String { "\(operation), \(style.name)" }

    init(
        _ operation: String, _ style: ClientStyle, _ method: String, _ path: String, query: String = "",
        type: String? = nil, headers: [String] = [], body: String? = nil, status: Int, holds: [String] = [],
        answers: [String: String] = [:]
    ) {
        self.operation = operation
        self.style = style
        self.method = method
        let version = style.version.isEmpty ? [] : ["api-version=\(style.version)"]
        let parameters = (version + (query.isEmpty ? [] : [query])).joined(separator: "&")
        target = path + (parameters.isEmpty ? "" : "?\(parameters)")
        self.type = type
        self.headers = headers
        self.body = body
        self.status = status
        self.holds = holds
        self.answers = answers
    }

    /// The request, byte for byte.
    func bytes(port: Int, message: String, page: String) -> String {
        let next = style.escapesContinuation ? page.replacing("%", with: "%25") : page
        let target = target.replacing("{MESSAGE}", with: message).replacing("{PAGE}", with: next)
        let token = style.token.make(
            url: "http://127.0.0.1:\(port)\(target)", rule: SharedAccessRule.defaultFullName, key: testKey,
            expiry: Timestamp.now.seconds + 300)
        if let layout = style.layout {
            let length = body?.utf8.count ?? (method == "GET" ? nil : 0)
            let lines = layout(type, headers, length).map {
                $0.replacing("{TOKEN}", with: token).replacing("{PORT}", with: "\(port)")
            }
            return (["\(method) \(target) HTTP/1.1"] + lines).joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        }
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"]
        lines += style.headers.map { $0.replacing("{TOKEN}", with: token) }
        lines += (type.map { ["Content-Type: \($0)"] } ?? []) + headers
        var text = ""
        if let body {
            if style.isChunked {
                lines.append("Transfer-Encoding: chunked")
                let half = body.utf8.count / 2
                let bytes = Array(body.utf8)
                for part in [bytes[..<half], bytes[half...]] where !part.isEmpty {
                    text += String(part.count, radix: 16) + "\r\n" + String(decoding: part, as: UTF8.self) + "\r\n"
                }
                text += "0\r\n\r\n"
            } else {
                lines.append("Content-Length: \(body.utf8.count)")
                text = body
            }
        }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + text
    }
}
