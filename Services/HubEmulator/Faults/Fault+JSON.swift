extension Fault: Encodable {
    private enum CodingKeys: String, CodingKey {
        case id = "Id"
        case platform = "Platform"
        case operation = "Operation"
        case tag = "Tag"
        case status = "Status"
        case rate = "Rate"
        case seed = "Seed"
        case latencyMilliseconds = "LatencyMs"
        case retryAfter = "RetryAfter"
        case count = "Count"
        case start = "AtMs"
        case duration = "ForMs"
        case reset = "Reset"
        case timeout = "TimeoutMs"
        case accept = "Accept"
        case swallow = "Swallow"
        case outcome = "Outcome"
        case tier = "Tier"
        case hits = "Hits"
        case words = "Words"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(platform?.rawValue, forKey: .platform)
        try container.encodeIfPresent(operation?.rawValue, forKey: .operation)
        try container.encodeIfPresent(tag, forKey: .tag)
        try container.encode(rate, forKey: .rate)
        try container.encodeIfPresent(seed, forKey: .seed)
        try container.encodeIfPresent(count, forKey: .count)
        if startMilliseconds > 0 { try container.encode(startMilliseconds, forKey: .start) }
        try container.encodeIfPresent(durationMilliseconds, forKey: .duration)
        try container.encode(hits, forKey: .hits)
        try container.encode(words, forKey: .words)
        try encodeEffect(to: &container)
    }

    private func encodeEffect(to container: inout KeyedEncodingContainer<CodingKeys>) throws {
        try container.encode(latencyMilliseconds, forKey: .latencyMilliseconds)
        try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
        try container.encode(answer == .reset, forKey: .reset)
        switch answer {
        case .status(let status): try container.encode(status, forKey: .status)
        case .silence(let milliseconds): try container.encode(milliseconds, forKey: .timeout)
        case .usual, .reset: break
        }
        if isAccepted { try container.encode(true, forKey: .accept) }
        if isSwallowed { try container.encode(true, forKey: .swallow) }
        try container.encodeIfPresent(outcome?.rawValue, forKey: .outcome)
        try container.encodeIfPresent(tier?.rawValue, forKey: .tier)
    }
}
