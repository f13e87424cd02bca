import Domain

extension ReplayItem {
    var text: String {
        let name = id ?? "unreadable message"
        switch result {
        case .replayed: return "replayed \(name) to \(platforms?.joined(separator: ",").oneLine ?? "all platforms")"
        case .failed: return "failed   \(name): the broker did not confirm it"
        case .unreadable: return "left     \(name): it can only be purged"
        case .recordUnreadable:
            return "left     \(name): its record cannot be read, perhaps because a newer version wrote it"
        case .notFound: return "missing  \(name): it has no dead letter"
        case .unknown, .expired, .revoked, .settled:
            let why = result == .settled ? "final on every platform" : result.rawValue
            return "\(dropped == true ? "dropped " : "left    ") \(name): \(why)"
        }
    }
}

extension ReplayReport {
    var summary: String {
        let counts = [(replayed, "replayed"), (dropped, "dropped"), (left, "left"), (notFound, "not found")]
        return counts.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
    }
}
