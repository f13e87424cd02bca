extension Fault: Encodable {
    private enum CodingKeys: String, CodingKey {
        case platform = "Platform"
        case operation = "Operation"
        case status = "Status"
        case rate = "Rate"
        case latencyMilliseconds = "LatencyMs"
        case retryAfter = "RetryAfter"
        case count = "Count"
        case reset = "Reset"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(platform?.rawValue, forKey: .platform)
        try container.encodeIfPresent(operation?.rawValue, forKey: .operation)
        try container.encodeIfPresent(status, forKey: .status)
        try container.encode(rate, forKey: .rate)
        try container.encode(latencyMilliseconds, forKey: .latencyMilliseconds)
        try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
        try container.encodeIfPresent(count, forKey: .count)
        try container.encode(reset, forKey: .reset)
    }
}
