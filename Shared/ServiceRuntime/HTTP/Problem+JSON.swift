import HTTPTypes
public import Hummingbird
import NIOCore
import SecurePushCore

extension Problem {
    /// The document: `type`, `title`, `status`, and `detail`, `instance` and `errors` where there are any. For answers
    /// that hold problems inside, as the lines of a batch do.
    public var json: String { String(decoding: jsonBytes, as: UTF8.self) }

    /// ``json`` as UTF-8.
    public var jsonBytes: [UInt8] {
        var text = JSONWriter()
        text.raw("{")
        text.member("type", type)
        text.member("title", title)
        text.member("status")
        text.number(status.code)
        if let detail { text.member("detail", detail) }
        if let instance { text.member("instance", instance) }
        if !errors.isEmpty {
            text.member("errors")
            text.raw("[")
            for (index, error) in errors.enumerated() {
                if index > 0 { text.raw(",") }
                text.raw("{")
                text.member("pointer", error.pointer)
                text.member("detail", error.detail)
                text.raw("}")
            }
            text.raw("]")
        }
        text.raw("}")
        return text.bytes
    }

    /// The answer.
    public var response: Response {
        var fields = headers
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: jsonBytes)))
    }
}

extension Problem: HTTPResponseError {
    public func response(from request: Request, context: some RequestContext) throws -> Response { response }
}
