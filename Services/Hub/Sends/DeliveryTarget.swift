import Foundations
import HTTPTypes
import PushServices

/// One device of a send, and its notification.
struct DeliveryTarget: Sendable {
    let handle: String
    let format: NotificationFormat
    let body: [UInt8]
    /// The headers of the template; nil: those of the request are passed on.
    var headers: [String: String]?
    /// Nil for a direct send.
    var registrationID: String?
    var installationID: String?
    /// The keys of a browser's subscription, with which pushes are encrypted (RFC 8291).
    var p256dh: String?
    var auth: String?
    /// The hub's key that its push service accepted last, if it is not the newest key.
    var pushKey: String?
    /// The outcome before the delivery; success if it can be delivered.
    var outcome = DeliveryOutcome.success

    /// Identifies a push of a send: by the handle, and for a template also by the push itself. It is 128 bits of keyed
    /// hashes, because a send may have millions of pushes, and a handle has hundreds of bytes.
    struct Identity: Hashable, Sendable {
        private let hashes: SIMD2<Int64>

        /// - Parameter template: the push of a template.
        init(handle: String, template: DeliveryTarget?) {
            func hash(_ salt: Int) -> Int64 {
                var hasher = Hasher()
                hasher.combine(salt)
                hasher.combine(handle)
                hasher.combine(template?.format)
                hasher.combine(template?.body)
                hasher.combine(template?.headers)
                return Int64(hasher.finalize())
            }
            hashes = SIMD2(hash(0), hash(1))
        }
    }

    /// The targets of registrations. Those that would get the same push again are skipped.
    ///
    /// A device gets one push per send, even with several registrations (K3). Templates of a device that make different
    /// pushes of a send, such as a tile and a toast, get one each, as at Azure.
    ///
    /// - Parameter seen: the pushes to the devices before these.
    /// - Throws: 400 when the body is not valid for a template.
    static func all(
        _ registrations: [RegistrationEntry], body: [UInt8], seen: inout Set<Identity>
    ) throws(HubError) -> [DeliveryTarget] {
        let properties = registrations.contains(where: \.isTemplate) ? try TemplateProperties(message: body) : nil
        return registrations.map { registration in
            var target: DeliveryTarget
            if let properties, registration.isTemplate {
                let renderer = TemplateRenderer(registration, properties)
                target = DeliveryTarget(registration, body: Array(renderer.body.utf8), headers: renderer.headers)
            } else {
                target = DeliveryTarget(registration, body: body, headers: nil)
            }
            let identity = Identity(handle: target.handle, template: registration.isTemplate ? target : nil)
            if !seen.insert(identity).inserted { target.outcome = .skipped }
            return target
        }
    }
}

extension DeliveryTarget {
    fileprivate init(_ registration: RegistrationEntry, body: [UInt8], headers: [String: String]?) {
        self.init(
            handle: registration.handle, format: registration.format, body: body, headers: headers,
            registrationID: registration.id, installationID: registration.installationID)
        guard format == .browser else { return }
        (p256dh, auth) = (registration.field("P256DH"), registration.field("Auth"))
        pushKey = registration.pushKey
    }

    /// Marks notifications that APNs refuses because of their size: they are lost, and the sender is not told.
    static func refusingOversize(_ targets: [DeliveryTarget], _ headers: HTTPFields) -> [DeliveryTarget] {
        guard targets.contains(where: { $0.format == .apple && $0.body.count > PlatformRules.maxAppleBytes }) else {
            return targets
        }
        let pushType = headers[HubHeaders.applePushType] ?? headers[HubHeaders.xApplePushType]
        return targets.map { target in
            guard target.outcome == .success, target.format == .apple,
                target.body.count > PlatformRules.maxAppleBytes(pushType: target.headers?["apns-push-type"] ?? pushType)
            else { return target }
            var refused = target
            refused.outcome = .invalidNotificationSize
            return refused
        }
    }
}
