/// A field table of AMQP 0-9-1 (section 4.2.5.5): headers of a message, arguments of a queue. Keeps its order.
public struct AMQPTable: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public var key: String
        public var value: AMQPValue

        public init(_ key: String, _ value: AMQPValue) {
            self.key = key
            self.value = value
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) { self.entries = entries }

    public var isEmpty: Bool { entries.isEmpty }

    /// The value of the first entry of that name; setting replaces it, and `nil` removes it.
    public subscript(key: String) -> AMQPValue? {
        get { entries.first { $0.key == key }?.value }
        set {
            let index = entries.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(key, value))
            case (nil, nil): break
            }
        }
    }
}

extension AMQPTable: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, AMQPValue)...) {
        self.init(elements.map { Entry($0.0, $0.1) })
    }
}
