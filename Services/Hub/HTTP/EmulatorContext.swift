import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceRuntime

/// The request context of the emulator: Hummingbird's own, and the channel, so that a fault can cut the connection.
struct EmulatorContext: RequestContext, ChannelRequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// A parameter of the path, percent-decoded; empty when the route has none of that name.
    func parameter(_ name: String) -> String { PercentCoding.decodeLeniently(parameters.get(name) ?? "") }
}

extension PercentCoding {
    /// Decodes as ``decodeLeniently(_:plusIsBlank:)`` until nothing changes, at most eight times: some clients escape a
    /// text twice.
    static func decodeRepeatedly(_ text: some StringProtocol) -> String {
        var current = String(text)
        for _ in 0..<8 {
            let next = decodeLeniently(current)
            if next.utf8.elementsEqual(current.utf8) { break }
            current = next
        }
        return current
    }
}

extension Request {
    /// The whole body.
    ///
    /// - Parameter limit: in bytes; by default the hub's limit for most requests.
    /// - Throws: `NIOTooManyBytesError` beyond the limit, which ``HubErrorMiddleware`` answers with 413.
    func bytes(upTo limit: Int = 64 * 1024) async throws -> [UInt8] {
        Array(try await body.collect(upTo: limit).readableBytesView)
    }
}

extension Response {
    /// A response of the hub; an empty one has a content type as well.
    static func hub(
        _ document: String = "", status: HTTPResponse.Status = .ok, type: String = HubHeaders.xmlContentType,
        headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        return Response(
            status: status, headers: headers,
            body: document.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(string: document)))
    }
}

extension JSONValue {
    /// An object of the members that have a value.
    init(_ members: KeyValuePairs<String, JSONValue?>) {
        self = .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// An object, in the order of the names.
    init<Value>(_ values: [String: Value], _ json: (Value) -> JSONValue) {
        self = .object(values.sorted { $0.key < $1.key }.map { Member($0.key, json($0.value)) })
    }

    init(strings: [String]) { self = .array(strings.map(JSONValue.string)) }

    /// A string; nil without a text.
    static func optional(_ text: String?) -> JSONValue? { text.map(JSONValue.string) }

    /// A number; nil without a value.
    static func integer(_ number: (some BinaryInteger)?) -> JSONValue? { number.map { .number(String($0)) } }

    /// A response of the emulator's own API.
    func response(_ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: json)))
    }
}
