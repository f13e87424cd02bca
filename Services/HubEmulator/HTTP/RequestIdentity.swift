import Foundation
import HTTPTypes
import Hummingbird

/// The two IDs that every answer of the hub carries, so that a client's log can be matched with the server's.
struct RequestIdentity: Sendable {
    let trackingID: String
    let correlationID: String

    /// Takes the client's IDs over, or makes some.
    init(headers: HTTPFields) {
        let sent = headers.value(of: HubHeaders.trackingID).flatMap { $0.isEmpty ? nil : $0 }
        trackingID = sent ?? UUID().uuidString.lowercased()
        correlationID = headers.value(of: HubHeaders.correlationID).flatMap { $0.isEmpty ? nil : $0 } ?? trackingID
    }

    func stamp(_ response: inout Response) {
        response.headers[HubHeaders.trackingID] = trackingID
        response.headers[HubHeaders.correlationID] = correlationID
    }
}
