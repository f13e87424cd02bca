import SecurePushCore

/// One device's entry in the store, as a hub is filled with it.
struct RefillItem: Sendable {
    enum Kind: String, Encodable, Sendable, CaseIterable {
        case installation
        case registration
    }

    enum Content: Sendable {
        case installation([UInt8])
        case registration(RegistrationPlatform, handle: String, tags: [String])
        /// An ID for which the device has not sent its handle yet: nothing to put.
        case incomplete
    }

    var kind: Kind
    var id: String
    var content: Content

    init(_ installation: Installation) {
        kind = .installation
        id = installation.id
        content = .installation(installation.document)
    }

    init(_ registration: Registration) {
        kind = .registration
        id = registration.id
        guard let platform = registration.platform, let handle = registration.handle else {
            content = .incomplete
            return
        }
        // The user's own tag is what pushes address, so it is never left to what was stored beside it.
        let tag = registration.owner.tag
        let tags = registration.tags.contains(tag) ? registration.tags : registration.tags + [tag]
        content = .registration(platform, handle: handle, tags: tags)
    }
}
