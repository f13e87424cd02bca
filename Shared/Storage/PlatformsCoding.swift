import SecurePushCore

extension Platform {
    /// The text in which the stores keep platforms: their names, separated by commas.
    static func list(_ platforms: [Platform]) -> String { platforms.map(\.rawValue).joined(separator: ",") }

    /// The platforms of such a text.
    static func platforms(list: String) -> [Platform] {
        list.split(separator: ",").map { Platform(rawValue: String($0)) }
    }
}
