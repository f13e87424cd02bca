extension HistoryEvent: Codable {
    private enum Kind: String, Codable {
        case run, device, send, hub, fetch, show, nemesis, record, letter, leak, gap, exit, end
    }

    private enum CodingKeys: String, CodingKey {
        case type
    }

    /// An object with `type` beside the members of the event.
    public init(from decoder: any Decoder) throws {
        switch try decoder.container(keyedBy: CodingKeys.self).decode(Kind.self, forKey: .type) {
        case .run: self = .run(try Run(from: decoder))
        case .device: self = .device(try Device(from: decoder))
        case .send: self = .send(try Send(from: decoder))
        case .hub: self = .hub(try HubSend(from: decoder))
        case .fetch: self = .fetch(try Fetch(from: decoder))
        case .show: self = .show(try Show(from: decoder))
        case .nemesis: self = .nemesis(try Nemesis(from: decoder))
        case .record: self = .record(try Record(from: decoder))
        case .letter: self = .letter(try Letter(from: decoder))
        case .leak: self = .leak(try Leak(from: decoder))
        case .gap: self = .gap(try Gap(from: decoder))
        case .exit: self = .exit(try Exit(from: decoder))
        case .end: self = .end(try End(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        let (kind, members) = parts
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .type)
        try members.encode(to: encoder)
    }

    private var parts: (Kind, any Encodable) {
        switch self {
        case .run(let value): (.run, value)
        case .device(let value): (.device, value)
        case .send(let value): (.send, value)
        case .hub(let value): (.hub, value)
        case .fetch(let value): (.fetch, value)
        case .show(let value): (.show, value)
        case .nemesis(let value): (.nemesis, value)
        case .record(let value): (.record, value)
        case .letter(let value): (.letter, value)
        case .leak(let value): (.leak, value)
        case .gap(let value): (.gap, value)
        case .exit(let value): (.exit, value)
        case .end(let value): (.end, value)
        }
    }
}
