/// Registration IDs in the service's shape, `1493776553344450975-2363723502764053081-2`.
enum RegistrationID {
    static func make() -> String {
        "\(Int64.random(in: 1_000_000_000_000_000_000...Int64.max))-"
            + "\(Int64.random(in: 1_000_000_000_000_000_000...Int64.max))-\(Int.random(in: 1...9))"
    }

    /// IDs of the client's own are taken too, when they are short and of plain characters. Dots alone are a path of
    /// their own to many programs on the way, so they are no ID.
    static func isValid(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 256 && !id.allSatisfy { $0 == "." }
            && id.unicodeScalars.allSatisfy { scalar in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                default: false
                }
            }
    }
}
