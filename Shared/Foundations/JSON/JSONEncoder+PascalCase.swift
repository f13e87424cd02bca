#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The name of a member as the APIs write it: `HubMessageId` for the property `hubMessageId`.
private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension JSONEncoder {
    /// Members in PascalCase and in alphabetical order, on one line; members without a value are left out.
    package static var pascalCase: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .custom { path in
            let name = path.last?.stringValue ?? ""
            // `access_token` is a name of OAuth (RFC 6749).
            if name.contains("_") { return MemberName(stringValue: name) }
            return MemberName(stringValue: name.prefix(1).uppercased() + name.dropFirst())
        }
        return encoder
    }
}

extension JSONDecoder {
    /// Reads the output of ``JSONEncoder/pascalCase``. Keys that a type names itself begin with a small letter.
    package static var pascalCase: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            let name = path.last?.stringValue ?? ""
            return MemberName(stringValue: name.prefix(1).lowercased() + name.dropFirst())
        }
        return decoder
    }
}
