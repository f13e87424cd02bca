/// One operation, and how often it is repeated for one figure.
struct Operation {
    /// Repeats the operation.
    typealias Body = (_ count: Int) async throws -> Void

    let name: String
    let count: Int
    /// Makes everything that a service makes once.
    let prepare: (TemporaryFolder) async throws -> Body

    init(_ name: String, count: Int, prepare: @escaping (TemporaryFolder) async throws -> Body) {
        self.name = name
        self.count = count
        self.prepare = prepare
    }

    /// An operation that waits for nothing.
    static func repeating(
        _ name: String, count: Int, prepare: @escaping (TemporaryFolder) throws -> () throws -> Void
    ) -> Operation {
        Operation(name, count: count) { folder in
            let body = try prepare(folder)
            return { count in for _ in 0..<count { try body() } }
        }
    }

    /// In the order of a notification's way.
    static var all: [Operation] {
        ingest + payloads + storage + broker + dispatcher + hub + retrieval + tokens + operations
    }
}

/// Keeps the optimiser from leaving out what nobody reads.
@inline(never) @_optimize(none)
func keep<Value>(_ value: Value) {}
