package import Foundations
package import HTTPTypes
package import Hummingbird
package import NIOCore

extension Request {
    /// The whole body, up to a limit. A request whose `Content-Length` is larger is refused unread.
    ///
    /// - Parameters:
    ///   - limit: in bytes.
    ///   - detail: the text of the problem for a larger body; the default names the limit.
    ///   - onChunk: called with the size of each chunk, in bytes, before the chunk is kept. It may throw to refuse it.
    ///   - onBody: called if there is a body: before it is awaited if the head announces it, so before `100 Continue`,
    ///     and otherwise with its first bytes. It may throw to refuse it.
    /// - Throws: ``Problem`` 413, and the errors of `onChunk` and `onBody`.
    package func wholeBody(
        upTo limit: Int, tooLarge detail: String? = nil, onChunk: (Int) throws -> Void = { _ in },
        onBody: () throws -> Void = {}
    ) async throws -> ByteBuffer {
        let tooLarge = Problem.contentTooLarge(detail ?? "The body may be at most \(limit) bytes.")
        if isLonger(than: limit) { throw tooLarge }
        let isAnnounced = announcesBody
        if isAnnounced { try onBody() }
        var whole = ByteBuffer()
        do {
            for try await chunk in body {
                guard chunk.readableBytes <= limit - whole.readableBytes else { throw tooLarge }
                if !isAnnounced, whole.readableBytes == 0, chunk.readableBytes > 0 { try onBody() }
                try onChunk(chunk.readableBytes)
                // Nearly every body is one chunk, which is not copied.
                if whole.readableBytes == 0 { whole = chunk } else { whole.writeImmutableBuffer(chunk) }
            }
        } catch let error as any HTTPResponseError where error.status == .contentTooLarge && !(error is Problem) {
            // Hummingbird's limit or NIO's.
            throw tooLarge
        }
        return whole
    }

    /// The whole body, which must be JSON in UTF-8 according to its `Content-Type`.
    ///
    /// - Parameter limit: in bytes; a larger body is refused as by ``wholeBody(upTo:tooLarge:onChunk:onBody:)``.
    /// - Throws: ``Problem`` 413 or 415.
    package func jsonBody(upTo limit: Int) async throws -> ByteBuffer {
        guard isLonger(than: limit) || MediaType.isJSON(headers[.contentType]) else {
            throw Problem.unsupportedMediaType("The body must be application/json in UTF-8.")
        }
        return try await wholeBody(upTo: limit)
    }

    /// Whether the head says that there is a body. In HTTP/2 one may come without a word in the head.
    private var announcesBody: Bool {
        if let length = headers[.contentLength].flatMap({ Int($0) }) { return length > 0 }
        return headers[.transferEncoding] != nil || headers[.expect] != nil
    }

    private func isLonger(than limit: Int) -> Bool { headers[.contentLength].flatMap { Int($0) } ?? 0 > limit }
}

extension ByteBuffer {
    /// Reads a JSON document.
    ///
    /// - Throws: ``Problem`` 400 if the text is not JSON, 422 with every invalid field.
    package func readJSON<Value>(_ rule: JSONRule<Value>) throws -> Value {
        try withUnsafeReadableBytes { bytes throws in
            var reader: JSONObjectReader
            do {
                reader = try JSONObjectReader(bytes.assumingMemoryBound(to: UInt8.self))
            } catch {
                throw Problem.badRequest("The body is not JSON: \(error).")
            }
            let value = reader.read(rule)
            guard let value, reader.issues.isEmpty else { throw Problem.invalidFields(reader.memberIssues) }
            return value
        }
    }
}

extension Response {
    /// A JSON answer that no cache may store (`Cache-Control: no-store`; RFC 9111, 5.2.2.5).
    package static func json(_ status: HTTPResponse.Status = .ok, _ body: ByteBuffer) -> Response {
        uncached(status, body, contentType: "application/json")
    }

    /// A JSON answer that no cache may store (`Cache-Control: no-store`; RFC 9111, 5.2.2.5).
    package static func json(_ status: HTTPResponse.Status = .ok, _ body: some Collection<UInt8>) -> Response {
        json(status, ByteBuffer(bytes: body))
    }

    static func uncached(_ status: HTTPResponse.Status = .ok, _ body: ByteBuffer, contentType: String) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: body))
    }
}

/// The meaning of a `Content-Type` header (RFC 9110, section 8.3).
package enum MediaType {
    /// Whether it is `application/json`, without a charset or in UTF-8.
    package static func isJSON(_ header: String?) -> Bool { isText("application/json", header) }

    /// Whether it is `application/x-ndjson`, or `text/x-ndjson` as other programs write it, without a charset or in
    /// UTF-8.
    package static func isNDJSON(_ header: String?) -> Bool {
        isText("application/x-ndjson", header) || isText("text/x-ndjson", header)
    }

    /// Whether it is `application/x-www-form-urlencoded`, without a charset or in UTF-8.
    package static func isForm(_ header: String?) -> Bool { isText("application/x-www-form-urlencoded", header) }

    private static func isText(_ type: String, _ header: String?) -> Bool {
        guard let header else { return false }
        var parts = header.split(separator: ";").map { $0.trimmingBlanks.lowercased() }
        guard !parts.isEmpty, parts.removeFirst() == type else { return false }
        return parts.allSatisfy { parameter in
            !parameter.hasPrefix("charset=") || parameter == "charset=utf-8" || parameter == #"charset="utf-8""#
        }
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        let blanks: Set<Character> = [" ", "\t"]
        var text = self
        while let first = text.first, blanks.contains(first) { text.removeFirst() }
        while let last = text.last, blanks.contains(last) { text.removeLast() }
        return text
    }
}
