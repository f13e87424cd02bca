/// A few values with names, in the order in which they were first set. Names are compared exactly.
struct NamedValues<Value: Equatable & Sendable>: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let name: String
        var value: Value
    }

    private(set) var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    subscript(_ name: String) -> Value? {
        get { entries.first { $0.name == name }?.value }
        set {
            let index = entries.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(name: name, value: value))
            case (nil, nil): break
            }
        }
    }
}
