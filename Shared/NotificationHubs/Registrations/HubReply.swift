import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import SecurePushCore

/// The hub's reply to a request that is not a send.
struct HubReply {
    /// Status, the ID out of `Location` or `Content-Location`, `Retry-After`, and an error's text.
    var answer: HubAnswer
    /// The whole body, at most ``maxBody`` bytes.
    var body: String
    /// Where a list goes on (`x-ms-continuationtoken`).
    var continuation: String?

    /// A page of registrations is 100 entries of about 1 KiB.
    private static let maxBody = 1 << 20

    /// Executes a request.
    ///
    /// - Throws: ``PushGatewayError`` with code `unavailable` for no answer in time, no connection, a body too long.
    init(_ request: HTTPClientRequest, client: HTTPClient, deadline: TimeAmount, logger: Logger) async throws {
        do {
            let response = try await client.execute(request, deadline: .now() + deadline)
            let body = try await response.body.collect(upTo: Self.maxBody)
            self.init(status: Int(response.status.code), headers: response.headers, body: body)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            logger.debug("A request to the hub failed", metadata: ["error": "\(Self.kind(of: error))"])
            // The kind of error only: a URL with a handle in it must not travel on in an error's text.
            throw PushGatewayError(.unavailable, "the hub did not answer (\(Self.kind(of: error)))")
        }
    }

    /// Throws what the hub's refusal means.
    func check() throws(PushGatewayError) {
        if let error = answer.error(now: .now) { throw error }
    }

    private init(status: Int, headers: HTTPHeaders, body: ByteBuffer) {
        let location = headers.first(name: "Location") ?? headers.first(name: "Content-Location")
        answer = HubAnswer(
            status: status, messageID: location.flatMap { HubMessageID.inLocation(Array($0.utf8)) },
            retryAfter: headers.first(name: "Retry-After"),
            date: status == 401 ? headers.first(name: "Date") : nil,
            body: status >= 300 ? Array(body.readableBytesView.prefix(HubAnswer.maxBody)) : [])
        self.body = String(buffer: body)
        continuation = headers.first(name: "x-ms-continuationtoken")
    }

    private static func kind(of error: any Error) -> String {
        guard let error = error as? HTTPClientError else { return "\(type(of: error))" }
        return error.shortDescription
    }
}
