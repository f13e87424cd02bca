/// One that the hub did not take. Never with the device's handle.
struct RefillFailure: Encodable, Sendable, Equatable {
    var kind: RefillItem.Kind
    var id: String
    var reason: String

    private enum CodingKeys: String, CodingKey {
        case kind = "Kind"
        case id = "Id"
        case reason = "Reason"
    }
}

/// What a refill has done.
struct RefillReport: Encodable, Sendable, Equatable {
    var installations = 0
    var registrations = 0
    /// IDs of registrations for which there is no handle yet.
    var incomplete = 0
    var failures: [RefillFailure] = []
    var isDryRun = false

    init(isDryRun: Bool = false) { self.isDryRun = isDryRun }

    mutating func count(_ item: RefillItem, _ failure: RefillFailure?) {
        if let failure { return failures.append(failure) }
        if case .incomplete = item.content { return incomplete += 1 }
        switch item.kind {
        case .installation: installations += 1
        case .registration: registrations += 1
        }
    }

    var done: Int { installations + registrations + incomplete + failures.count }

    var summary: String {
        "\(isDryRun ? "would put" : "put") \(installations) installations and \(registrations) registrations; "
            + "\(incomplete) have no handle yet; \(failures.count) failed"
    }

    private enum CodingKeys: String, CodingKey {
        case installations = "Installations"
        case registrations = "Registrations"
        case incomplete = "Incomplete"
        case failed = "Failed"
        case isDryRun = "DryRun"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(installations, forKey: .installations)
        try container.encode(registrations, forKey: .registrations)
        try container.encode(incomplete, forKey: .incomplete)
        try container.encode(failures.count, forKey: .failed)
        try container.encode(isDryRun, forKey: .isDryRun)
    }
}
