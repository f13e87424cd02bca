package import Foundations

/// A registration of a hub as it is stored: the values by which it is found, and its document. It is also one target of
/// a send.
package struct HubRegistrationRow: Sendable, Hashable {
    /// In the case in which a client wrote it.
    package var id: String
    /// Its place in lists, which updates keep; 0: not stored yet.
    package var sequence: Int64 = 0
    /// Incremented by each update.
    package var version: Int64 = 1
    /// The platform, such as `apple`.
    package var format: String
    package var isTemplate: Bool
    /// As written, without commas in them.
    package var tags: [String]
    /// The device's ID at its push service.
    package var handle: String
    /// The installation that it is a part of, in lower case.
    package var installationID: String?
    /// Which part of the installation it is; empty for the device itself.
    package var slot: String?
    package var updatedAt: Timestamp
    /// `nil`: never.
    package var expiresAt: Timestamp?
    /// Only the hub interprets it.
    package var document: [UInt8]
    /// The hub's key that the device's push service accepted last, if it is not the newest key. Only
    /// ``HubTables/remember(_:)`` writes it.
    package internal(set) var pushKey: String?

    package init(
        id: String, format: String, isTemplate: Bool, tags: [String], handle: String, installationID: String? = nil,
        slot: String? = nil, updatedAt: Timestamp, expiresAt: Timestamp? = nil, document: [UInt8]
    ) {
        self.id = id
        self.format = format
        self.isTemplate = isTemplate
        self.tags = tags
        self.handle = handle
        self.installationID = installationID
        self.slot = slot
        self.updatedAt = updatedAt
        self.expiresAt = expiresAt
        self.document = document
    }

    /// The format of the sends that reach it.
    package var audience: String { isTemplate ? Self.template : format }

    /// The format of the sends that reach templates, and no others.
    static let template = "template"

    /// The approximate memory, in bytes.
    var heldBytes: Int { 512 + document.count + handle.utf8.count + tags.reduce(0) { $0 + $1.utf8.count } }
}

/// The key with which the push service of a device has accepted a push.
package struct HubPushKey: Sendable, Hashable {
    package var hub: String
    package var handle: String
    /// `nil`: with the newest key of the hub.
    package var key: String?

    package init(hub: String, handle: String, key: String?) {
        (self.hub, self.handle, self.key) = (hub, handle, key)
    }
}

/// The condition of a change: the version that a registration must have.
package enum HubCondition: Equatable, Sendable {
    /// Create it, or change it whatever its version is.
    case none
    /// It must exist.
    case any
    case version(Int64)
    /// No registration has this version.
    case never

    func allows(_ version: Int64) -> Bool {
        switch self {
        case .none, .any: true
        case .version(let wanted): wanted == version
        case .never: false
        }
    }
}

/// How a change of a registration ended.
package enum HubChange: Sendable, Equatable {
    /// The registration after the change, and before it.
    case done(HubRegistrationRow, former: HubRegistrationRow?)
    /// There is none with this ID.
    case unknown
    /// It has another version than the condition names.
    case conflict
    /// The ID was deleted, and cannot be used again.
    case retired
}

/// Which registrations a send or a list is about.
package struct HubAudience: Sendable {
    /// The formats: of a send, or all that a list covers.
    package var formats: [String]
    /// Each selected registration has a tag of each of these sets, in lower case; empty: all of the formats.
    package var tagSets: [[String]]
    /// Decides by the tags in lower case; `nil`: every registration of the one set is selected.
    package var matches: (@Sendable (Set<String>) -> Bool)?

    package init(
        formats: [String], tagSets: [[String]] = [], matches: (@Sendable (Set<String>) -> Bool)? = nil
    ) {
        self.formats = formats
        self.tagSets = tagSets
        self.matches = matches
    }
}

/// A page of registrations in the order of their places.
package struct HubPage: Sendable, Equatable {
    package var registrations: [HubRegistrationRow] = []
    /// After which place the next page begins; `nil` after the last page. A page may have few registrations, or none,
    /// and yet not be the last.
    package var next: Int64?
}
