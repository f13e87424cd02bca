import CLibPQ

/// libpq's own reading of a connection URI or keyword string.
enum ConnectionString {
    /// The keywords that the text sets.
    ///
    /// libpq's message is left out of the error: it can quote the text, password and all.
    static func parse(_ text: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        defer { PQfreemem(message) }
        guard let options = PQconninfoParse(text, &message) else {
            throw PostgresError(.invalid, "Not a connection URI that libpq takes.")
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}
