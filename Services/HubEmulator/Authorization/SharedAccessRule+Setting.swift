/// A rule as the configuration writes one: `NAME:Listen+Send:KEY` or `NAME:Listen+Send:KEY:SECONDARYKEY`.
extension SharedAccessRule {
    /// Nil when a part is missing or empty, or a right is not known.
    init?(setting: String) {
        let parts = setting.split(separator: ":", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        var rights: AccessRights = []
        for name in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
            switch name.lowercased() {
            case "listen": rights.insert(.listen)
            case "send": rights.insert(.send)
            case "manage": rights.insert(.manage)
            default: return nil
            }
        }
        self.init(
            name: String(parts[0]), primaryKey: String(parts[2]),
            secondaryKey: parts.count == 4 ? String(parts[3]) : nil,
            rights: rights)
    }
}
