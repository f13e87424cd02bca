import Foundation
import HTTPTypes
import Hummingbird

extension SendRequest {
    /// The hub's limit for the handles of a batch.
    static let maximumHandles = 1000
    /// A notification, and 1000 handles as long as any platform has them.
    private static let maximumBatchSize = 2 * 1024 * 1024

    /// Reads a batch: the part `notification` with the native body, and the part `devices`, a JSON array of handles.
    ///
    /// - Throws: 400 that says what is wrong, 413.
    init(batch request: Request, call: HubCall) async throws {
        guard call.query.isOn("direct") else {
            throw HubError.badRequest("A batch needs the direct parameter in the query.")
        }
        let addressing = try SendAddressing(
            kind: .batch, format: request.headers[HubHeaders.format], tags: nil)
        let body = Array(try await request.body.collect(upTo: Self.maximumBatchSize).readableBytesView)
        let parts = try MultipartReader.parts(of: body, contentType: request.headers[.contentType])
        guard let notification = Self.part("notification", in: parts, at: 0),
            let devices = Self.part("devices", in: parts, at: 1)
        else { throw HubError.badRequest("A batch needs the parts notification and devices.") }
        guard notification.body.count <= Self.maximumBodySize else { throw HubError.bodyTooLarge }
        let handles = try Self.handles(in: Data(devices.body))
        // The device gets the notification's own content type and not the multipart's.
        var headers = request.headers
        headers[.contentType] = notification.headers["content-type"]
        try WindowsRules.checkRaw(addressing.format, headers)
        self.init(addressing, handles: handles, body: Array(notification.body), headers: headers, call: call)
    }

    /// By its name, or where it stands when no part has one.
    private static func part(_ name: String, in parts: [MultipartPart], at index: Int) -> MultipartPart? {
        parts.first { $0.name?.lowercased() == name }
            ?? (parts.count == 2 && parts.allSatisfy { $0.name == nil } ? parts[index] : nil)
    }

    private static func handles(in json: Data) throws(HubError) -> [String] {
        guard let handles = (try? JSONSerialization.jsonObject(with: json)) as? [String] else {
            throw HubError.badRequest("The part devices must be a JSON array of handles.")
        }
        guard (1...maximumHandles).contains(handles.count), !handles.contains("") else {
            throw HubError.badRequest("A batch takes 1 to \(maximumHandles) handles, none of them empty.")
        }
        return handles
    }
}
