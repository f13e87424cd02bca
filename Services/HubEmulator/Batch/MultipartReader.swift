/// One part of a multipart body.
struct MultipartPart: Equatable, Sendable {
    /// Names in lower case.
    let headers: [String: String]
    let body: ArraySlice<UInt8>

    /// The `name` of the content disposition, quoted or not.
    var name: String? { headers["content-disposition"].flatMap { HeaderParameters.value(of: "name", in: $0) } }
}

/// Reads `multipart/mixed` and `multipart/form-data` bodies (RFC 2046, 5.1), line ends with and without CR.
enum MultipartReader {
    private static let maximumParts = 16
    private static let maximumHeaders = 32

    /// - Parameter contentType: the request's, with its boundary.
    /// - Throws: 400 that says what is wrong.
    static func parts(of body: [UInt8], contentType: String?) throws(HubError) -> [MultipartPart] {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/"),
            let boundary = HeaderParameters.value(of: "boundary", in: contentType),
            (1...70).contains(boundary.utf8.count)
        else { throw HubError.badRequest("A batch needs the content type multipart/mixed with a boundary.") }
        let delimiter = Array("--\(boundary)".utf8)
        var sections: [ArraySlice<UInt8>] = []
        var lineStart = 0
        var sectionStart: Int?
        while lineStart < body.count {
            let lineEnd = body[lineStart...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count
            let line = trimmed(body[lineStart..<lineEnd])
            let next = min(lineEnd + 1, body.count)
            guard let isLast = isDelimiter(line, delimiter) else {
                lineStart = next
                continue
            }
            if let sectionStart { sections.append(withoutLineEnd(body[sectionStart..<max(sectionStart, lineStart)])) }
            if isLast { return try sections.map { section throws(HubError) in try part(section) } }
            guard sections.count < maximumParts else { throw HubError.badRequest("The batch has too many parts.") }
            sectionStart = next
            lineStart = next
        }
        throw HubError.badRequest("The batch has no closing boundary.")
    }

    /// Nil: no delimiter; else whether it is the closing one.
    private static func isDelimiter(_ line: ArraySlice<UInt8>, _ delimiter: [UInt8]) -> Bool? {
        guard line.starts(with: delimiter) else { return nil }
        let rest = line.dropFirst(delimiter.count)
        if rest.isEmpty { return false }
        return rest.elementsEqual("--".utf8) ? true : nil
    }

    private static func part(_ section: ArraySlice<UInt8>) throws(HubError) -> MultipartPart {
        var headers: [String: String] = [:]
        var rest = section
        while true {
            let lineEnd = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = trimmed(rest[rest.startIndex..<lineEnd])
            rest = rest[min(lineEnd + 1, rest.endIndex)...]
            if line.isEmpty { return MultipartPart(headers: headers, body: rest) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), headers.count < maximumHeaders else {
                throw HubError.badRequest("A part of the batch has a header that is not valid.")
            }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            headers[name] = String(decoding: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        }
    }

    /// Without the blanks and the CR at the end of a line.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last,
            last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") || last == UInt8(ascii: "\t")
        { line.removeLast() }
        return line
    }

    /// The line end before a delimiter is the delimiter's.
    private static func withoutLineEnd(_ section: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var section = section
        if section.last == UInt8(ascii: "\n") { section.removeLast() }
        if section.last == UInt8(ascii: "\r") { section.removeLast() }
        return section
    }
}
