import HTTPTypes
public import Hummingbird
public import NIOCore
public import SecurePushCore

extension Request {
    /// The whole body, which must be JSON in UTF-8 by its `Content-Type`; past the limit it is refused unread.
    ///
    /// - Throws: ``Problem``: 413, 415.
    public func jsonBody(upTo limit: Int) async throws -> ByteBuffer {
        let tooLarge = Problem.contentTooLarge("The body may be at most \(limit) bytes.")
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        guard MediaType.isJSON(headers[.contentType]) else {
            throw Problem.unsupportedMediaType("The body must be application/json in UTF-8.")
        }
        do {
            return try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch let error as HTTPError where error.status == .contentTooLarge {
            throw tooLarge
        }
    }
}

extension ByteBuffer {
    /// Reads a JSON document by a reader that notes what is wrong with its members.
    ///
    /// - Throws: ``Problem``: 400 for what is not JSON, 422 naming every offending member.
    public func readJSON<Value>(_ read: (inout JSONObjectReader) -> Value) throws -> Value {
        try withUnsafeReadableBytes { bytes throws in
            var reader: JSONObjectReader
            do {
                reader = try JSONObjectReader(bytes.assumingMemoryBound(to: UInt8.self))
            } catch {
                throw Problem.badRequest("The body is not JSON: \(error).")
            }
            let value = read(&reader)
            guard reader.issues.isEmpty else {
                throw Problem.unprocessable("Some members are not as they must be.", issues: reader.memberIssues)
            }
            return value
        }
    }
}

/// What a `Content-Type` header says (RFC 9110, section 8.3).
public enum MediaType {
    /// Whether it is `application/json`, without a charset or in UTF-8.
    public static func isJSON(_ header: String?) -> Bool { isText("application/json", header) }

    /// Whether it is `application/x-ndjson`, without a charset or in UTF-8.
    public static func isNDJSON(_ header: String?) -> Bool { isText("application/x-ndjson", header) }

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
