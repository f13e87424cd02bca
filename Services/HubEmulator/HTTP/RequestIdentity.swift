import Foundation
import HTTPTypes
import Hummingbird

/// The two IDs that every answer of the hub carries, so that a client's log can be matched with the server's.
struct RequestIdentity: Sendable {
    let trackingID: String
    let correlationID: String

    /// Takes the client's IDs over, or makes some.
    init(headers: HTTPFields) {
        self.init(
            trackingID: headers.value(of: HubHeaders.trackingID),
            correlationID: headers.value(of: HubHeaders.correlationID))
    }

    /// - Parameters: the headers' values as the client sent them.
    init(trackingID: String?, correlationID: String?) {
        let known = trackingID.flatMap { $0.isEmpty ? nil : $0 } ?? UUID().uuidString.lowercased()
        self.trackingID = known
        self.correlationID = correlationID.flatMap { $0.isEmpty ? nil : $0 } ?? known
    }

    func stamp(_ response: inout Response) {
        response.headers[HubHeaders.trackingID] = trackingID
        response.headers[HubHeaders.correlationID] = correlationID
    }
}
