import Foundation
import HTTPTypes
import Hummingbird

/// The two IDs that every answer of the hub carries, so that a client's log can be matched with the server's.
struct RequestIdentity: Sendable {
    let trackingID: String
    let correlationID: String

    /// Takes the client's IDs over, or makes some.
    init(headers: HTTPFields) {
        let given = { (name: HTTPField.Name) in headers[name].flatMap { $0.isEmpty ? nil : $0 } }
        trackingID = given(HubHeaders.trackingID) ?? UUID().uuidString.lowercased()
        correlationID = given(HubHeaders.correlationID) ?? trackingID
    }

    func stamp(_ response: inout Response) {
        response.headers[HubHeaders.trackingID] = trackingID
        response.headers[HubHeaders.correlationID] = correlationID
    }
}
