/// Why a text is not the XML that a hub takes.
struct XMLReaderError: Error, Equatable, CustomStringConvertible {
    let reason: String
    /// In bytes from the start.
    let offset: Int

    var description: String { "The document \(reason) (near byte \(offset))." }
}
