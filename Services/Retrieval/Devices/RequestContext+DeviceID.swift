import Hummingbird
import SecurePushCore

extension RequestContext {
    /// The ID in the path, which the router leaves percent-encoded; `nil` for anything that is not an ID.
    var deviceID: String? {
        guard let id = parameters.get("id").flatMap(String.init(percentEncoded:)), DeviceID.isValid(id) else {
            return nil
        }
        return id
    }
}

extension String {
    /// Resolves percent-encoding (RFC 3986, section 2.1); `nil` where an escape or the UTF-8 in the escapes is broken.
    init?(percentEncoded text: String) {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            // Two at once: `UInt8` would take a sign for the first digit.
            let digits = rest.prefix(2).map { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 2, let high = digits[0], let low = digits[1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
            rest = rest.dropFirst(2)
        }
        self.init(validating: bytes, as: UTF8.self)
    }
}
