import Domain
import Foundation
import Foundations
import HTTPTypes
import PushServices
import Storage

/// One push of a send to one device, from the first try to its end.
struct Push: Sendable {
    var lane: HubLaneKey
    var messageID: String
    var request: PushRequest
    /// The device's ID at its push service, as in registrations.
    var handle: String
    var registrationID: String?
    var installationID: String?
    /// When the send began. A change of the device's registration since then is newer than an answer to the push.
    var sentAt: Timestamp
    /// How often it was tried.
    var attempt = 0
    /// The span of the send's request (W3C Trace Context).
    var traceparent: String?

    /// The push after a try that is to be repeated.
    func tried(_ again: PushAgain) -> Push {
        var push = self
        if again.isTried { push.attempt += 1 }
        return push
    }

    /// Until when it is tried again.
    func giveUpAt(_ settings: DeliverySettings) -> Timestamp {
        let end = sentAt + settings.retryFor
        return request.expiresAt.map { min($0, end) } ?? end
    }
}

extension Push {
    /// The part of a stored push that has no columns.
    private struct Document: Codable {
        var address: String
        var p256dh: String?
        var auth: String?
        var handle: String
        var registration: String?
        var installation: String?
        var headers: [String: String]
        var expiresAt: Int64?
        var keyHint: String?
        var sentAt: Int64
        var traceparent: String?
    }

    /// - Parameter claim: who is pushing it now; `nil`: nobody.
    func stored(dueAt: Timestamp, claim: Int64?, _ settings: DeliverySettings) throws -> HubPush {
        var document = Document(
            address: handle, handle: handle, registration: registrationID, installation: installationID,
            headers: request.headers, expiresAt: request.expiresAt?.milliseconds, keyHint: request.keyHint,
            sentAt: sentAt.milliseconds, traceparent: traceparent)
        switch request.address {
        case .handle(let text): document.address = text
        case .subscription(let endpoint, let p256dh, let auth):
            (document.address, document.p256dh, document.auth) = (endpoint, p256dh, auth)
        }
        return HubPush(
            id: NotificationID(), lane: lane, messageID: messageID, dueAt: dueAt, claim: claim, attempt: attempt,
            giveUpAt: giveUpAt(settings), request: Array(try JSONEncoder().encode(document)), body: request.body)
    }

    /// - Returns: `nil` for a row that this program did not write.
    init?(_ stored: HubPush) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(stored.request)) else { return nil }
        let address: PushAddress =
            if let p256dh = document.p256dh, let auth = document.auth {
                .subscription(endpoint: document.address, p256dh: p256dh, auth: auth)
            } else {
                .handle(document.address)
            }
        self.init(
            lane: stored.lane, messageID: stored.messageID,
            request: PushRequest(
                address: address, body: stored.body, headers: document.headers,
                expiresAt: document.expiresAt.map(Timestamp.init(milliseconds:)), keyHint: document.keyHint),
            handle: document.handle, registrationID: document.registration, installationID: document.installation,
            sentAt: Timestamp(milliseconds: document.sentAt), attempt: stored.attempt,
            traceparent: document.traceparent)
    }
}

extension DeviceRegistry {
    /// Delivers a push to a platform that was real when the push was stored, and is simulated now.
    func deliver(_ push: Push) {
        guard let platform = NotificationFormat(rawValue: push.lane.platform) else { return }
        let simulated = DevicePush(
            platform: platform, body: push.request.body, requestHeaders: [:], templateHeaders: push.request.headers,
            messageID: push.messageID, receivedAt: push.sentAt)
        deliver(simulated, to: push.handle, registrationID: push.registrationID)
    }
}

/// The native headers of a push, with names in lower case.
enum NativeHeaders {
    /// - Parameters:
    ///   - own: the headers of a template, which replace those of the send.
    ///   - headers: those of the send.
    static func make(_ own: [String: String]?, _ headers: HTTPFields, platform: NotificationFormat) -> [String: String]
    {
        let given = own ?? PassThroughHeaders.select(from: headers, platform: platform)
        var native: [String: String] = [:]
        for (name, value) in given {
            let name = name.lowercased()
            if name == "servicebusnotification-apns-expiry" {
                guard let time = Timestamp(iso8601: value) else { continue }
                native["apns-expiration"] = native["apns-expiration"] ?? "\(time.seconds)"
            } else {
                native[name.hasPrefix("x-apns-") ? String(name.dropFirst(2)) : name] = value
            }
        }
        return native
    }

    /// When a push expires, by its headers. With a lifetime of 0 the push service tries once; the hub still pushes.
    static func expiry(_ headers: [String: String], receivedAt: Timestamp) -> Timestamp? {
        if let text = headers["apns-expiration"], let seconds = Int64(text), seconds > 0 {
            return Timestamp(milliseconds: 0) + .seconds(min(seconds, 253_402_300_799))
        }
        for name in ["ttl", "x-wns-ttl"] {
            if let text = headers[name], let seconds = Int32(text), seconds > 0 {
                return receivedAt + .seconds(Int64(seconds))
            }
        }
        return nil
    }
}
