import Crypto
package import Foundations

/// A device as the store has it.
package enum StoredDevice: Sendable {
    case installation(Installation)
    case registration(Registration)

    package var owner: UserName {
        switch self {
        case .installation(let installation): installation.owner
        case .registration(let registration): registration.owner
        }
    }

    package var seenAt: Timestamp {
        switch self {
        case .installation(let installation): installation.lastSeenAt
        case .registration(let registration): registration.updatedAt
        }
    }

    /// Its handle, if it has registered.
    package var handle: String? {
        switch self {
        case .installation(let installation): installation.handle
        case .registration(let registration): registration.platform == nil ? nil : registration.handle
        }
    }

    /// Whether it is only a registration ID, whose device has not registered yet: no hub has it.
    package var isIncomplete: Bool { handle == nil }

    /// Tells whether a hub has this version of the device: the first eight bytes of SHA-256 over everything that the
    /// hub is given.
    package var fingerprint: Int64 {
        var hash = SHA256()
        let fields: [[UInt8]] =
            switch self {
            case .installation(let installation): [Array(installation.owner.text.utf8), installation.document]
            case .registration(let registration):
                [
                    registration.owner.text, registration.platform?.rawValue ?? "", registration.handle ?? "",
                    registration.tags.joined(separator: ","),
                ].map { Array($0.utf8) }
            }
        for field in fields {
            hash.update(data: Array("\(field.count):".utf8))
            hash.update(data: field)
        }
        return Int64(bitPattern: hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
