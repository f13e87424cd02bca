import Foundations

/// One part of a multipart body.
struct MultipartPart: Equatable, Sendable {
    /// Names in lower case.
    let headers: [String: String]
    let body: ArraySlice<UInt8>

    /// The `name` of the content disposition, with or without quotes.
    var name: String? { headers["content-disposition"].flatMap { HeaderParameters.value(of: "name", in: $0) } }
}

/// Reads `multipart/mixed` and `multipart/form-data` bodies (RFC 2046, 5.1), line ends with and without CR.
enum MultipartReader {
    private static let maxParts = 16
    private static let maxHeaders = 32

    /// - Parameter contentType: the request's, with its boundary.
    /// - Throws: 400 with the reason.
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
            guard sections.count < maxParts else { throw HubError.badRequest("The batch has too many parts.") }
            sectionStart = next
            lineStart = next
        }
        throw HubError.badRequest("The batch has no closing boundary.")
    }

    /// Whether a delimiter is the closing one; nil for any other line.
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
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), headers.count < maxHeaders else {
                throw HubError.badRequest("A part of the batch has an invalid header.")
            }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            headers[name] = String(decoding: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        }
    }

    /// A line without the blanks and the CR at its end.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last,
            last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") || last == UInt8(ascii: "\t")
        { line.removeLast() }
        return line
    }

    /// The line end before a delimiter belongs to the delimiter.
    private static func withoutLineEnd(_ section: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var section = section
        if section.last == UInt8(ascii: "\n") { section.removeLast() }
        if section.last == UInt8(ascii: "\r") { section.removeLast() }
        return section
    }
}

/// The parameters of a header's value: `inline; name=devices`, `multipart/mixed; boundary="B"`.
enum HeaderParameters {
    /// - Parameter name: in lower case.
    static func value(of name: String, in header: String) -> String? {
        for parameter in pieces(of: header).dropFirst() {
            guard let equals = parameter.firstIndex(of: "="),
                OutsideText.trimmed(parameter[..<equals]).lowercased() == name
            else { continue }
            return unquoted(OutsideText.trimmed(parameter[parameter.index(after: equals)...]))
        }
        return nil
    }

    /// The parts between semicolons outside of quotes.
    private static func pieces(of header: String) -> [Substring] {
        var isQuoted = false
        return header.split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        return String(text.dropFirst().dropLast()).replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
    }
}
