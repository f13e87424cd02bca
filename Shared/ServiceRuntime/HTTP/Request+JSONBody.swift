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
