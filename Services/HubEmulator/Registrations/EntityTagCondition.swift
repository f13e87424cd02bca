/// An `If-Match` header in the spellings of the clients: `*`, `"*"` (.NET), `"1"`, `W/"1"`, `1`.
enum EntityTagCondition: Equatable, Sendable {
    /// No header: create or update.
    case none
    case any
    case version(Int)
    /// A tag that no registration can have.
    case never

    init(_ header: String?) {
        guard let header else {
            self = .none
            return
        }
        var tag = header.filter { $0 != " " }[...]
        if tag.hasPrefix("W/") || tag.hasPrefix("w/") { tag = tag.dropFirst(2) }
        let value = tag.filter { $0 != "\"" }
        self = value == "*" ? .any : Int(value).map(Self.version) ?? .never
    }

    func allows(_ version: Int) -> Bool {
        switch self {
        case .none, .any: true
        case .version(let wanted): wanted == version
        case .never: false
        }
    }
}
