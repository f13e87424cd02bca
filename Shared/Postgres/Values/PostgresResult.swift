/// The rows that a query gave, as the connection received them; nothing is copied until a column is read.
public struct PostgresResult: Sendable, RandomAccessCollection {
    let handle: ResultHandle

    public var startIndex: Int { 0 }
    public let endIndex: Int

    init(_ handle: ResultHandle) {
        self.handle = handle
        endIndex = handle.rowCount
    }

    public subscript(position: Int) -> PostgresRow { PostgresRow(handle: handle, index: position) }

    /// How many rows the statement inserted, updated, deleted or selected.
    public var affectedRows: Int { handle.affectedRows }
}
