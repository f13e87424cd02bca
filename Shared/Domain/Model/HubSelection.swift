import Crypto
import Foundations

/// Selects the hub of a user from several, by rendezvous hashing (highest random weight): the user's hub is the one
/// with the greatest weight for the user's tag. A hub that is added takes over an equal share of every other hub's
/// users, and no other user moves. If a hub leaves, only its own users move.
///
/// A weight is the first eight bytes, as a big-endian number, of SHA-256 over the hub's name, a byte 0, and the user's
/// tag (``UserName/tag``). The hub's name is in lower case, because hubs ignore case (Azure: "Notification Hubs naming
/// rules"). The order of the names does not matter. This rule never changes: devices are registered by it.
package struct HubSelection: Sendable {
    /// The names, in lower case and sorted.
    package let names: [String]
    /// Per name: the hash function after the name and the byte 0.
    private let prefixes: [SHA256]

    /// - Parameter names: at least one, each once.
    package init(_ names: [String]) {
        self.names = names.map(HubSelection.folded).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        prefixes = self.names.map { name in
            var hash = SHA256()
            hash.update(data: Array(name.utf8) + [0])
            return hash
        }
    }

    /// The form in which hubs' names are compared and stored: `A-Z` become `a-z`.
    package static func folded(_ name: String) -> String { DeviceID.folded(name) }

    /// The position in ``names`` of the hub of a user's tag.
    package func position(of tag: @autoclosure () -> String) -> Int {
        // One hub needs no hash, and not even the tag.
        guard prefixes.count > 1 else { return 0 }
        let tag = Array(tag().utf8)
        var best = 0
        var greatest: UInt64 = 0
        for (position, prefix) in prefixes.enumerated() {
            let weight = HubSelection.weight(prefix, tag)
            // Of equal weights, which practically do not occur, the first name's counts.
            if position == 0 || weight > greatest { (best, greatest) = (position, weight) }
        }
        return best
    }

    /// The name of the hub of a user, in lower case.
    package func name(for user: UserName) -> String { names[position(of: user.tag)] }

    private static func weight(_ prefix: SHA256, _ tag: [UInt8]) -> UInt64 {
        var hash = prefix
        hash.update(data: tag)
        return hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The hubs of a pool at one moment, with the clients of them. Tables are compared by identity.
package final class HubTable<Client: Sendable>: Sendable {
    package final class Member: Sendable {
        /// The hub's name as the file gives it, for people and metrics.
        package let label: String
        /// The hub's name in lower case, by which it is selected and stored.
        package let name: String
        /// The URL of its namespace, for logs.
        package let endpoint: String
        package let client: Client

        /// - Parameter label: the hub's name as the file gives it.
        package init(label: String, endpoint: String = "", client: Client) {
            self.label = label
            name = HubSelection.folded(label)
            self.endpoint = endpoint
            self.client = client
        }
    }

    /// In the order of their names.
    package let members: [Member]
    /// Selects among ``members``.
    package let selection: HubSelection

    /// - Parameter members: at least one; each name once.
    package init(_ members: [Member]) {
        selection = HubSelection(members.map(\.label))
        self.members = selection.names.compactMap { name in members.first { $0.name == name } }
    }

    /// The hub of a user's tag.
    package func member(of tag: String) -> Member { members[selection.position(of: tag)] }

    package func member(for user: UserName) -> Member { member(of: user.tag) }

    /// The hub of a name in lower case; `nil` if it is not in the pool.
    package func member(named name: String) -> Member? { members.first { $0.name == name } }
}
