package import Domain
internal import Foundation

/// The visible form of a name. Two names with the same visible form are different users, because names are compared
/// byte for byte.
///
/// It knows canonical and compatible forms, case, blanks, invisible characters, and the Greek and Cyrillic letters that
/// look like Latin ones. It is for a warning, so it need not know all of Unicode's confusables (UTS 39).
struct NameLook: Hashable {
    private let scalars: [UInt32]

    init(_ name: UserName) {
        var seen = ""
        for scalar in name.text.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars {
            let properties = scalar.properties
            if properties.isWhitespace {
                if !seen.isEmpty, seen.unicodeScalars.last != " " { seen.unicodeScalars.append(" ") }
            } else if !properties.isDefaultIgnorableCodePoint, properties.generalCategory != .format {
                seen.unicodeScalars.append(Self.twins[scalar] ?? scalar)
            }
        }
        if seen.unicodeScalars.last == " " { seen.unicodeScalars.removeLast() }
        // A mark could precede an invisible character, and follow its letter now.
        scalars = seen.precomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
    }

    private static let twins: [Unicode.Scalar: Unicode.Scalar] = {
        // A capital I looks like an l, and is an i in lower case here: so all of them are one letter.
        let latin = "aeopcyxljshkmtbhaovplktuxeblll"
        let others = "аеорсухіјѕһкмтвнαονρικτυχεβ1i|"
        var twins = Dictionary(uniqueKeysWithValues: zip(others.unicodeScalars, latin.unicodeScalars))
        twins["0"] = "o"
        twins["ı"] = "l"
        return twins
    }()
}

extension UsersFile {
    /// The users of the file whose names look like this one, and differ from it.
    ///
    /// - Throws: ``SetupError``: `unreadable`, `malformed`. A missing file has no users.
    package func users(like name: UserName) throws -> [UserName] {
        guard let text = try PrivateFile.read(path) else { return [] }
        let look = NameLook(name)
        return try Self.users(CredentialLines(text)).keys
            .filter { $0 != name && NameLook($0) == look }
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }
}
