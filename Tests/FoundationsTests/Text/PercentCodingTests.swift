import Foundations
import Testing

struct PercentCodingTests {
    @Test(arguments: [
        ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b+c/d%", "a%20b%2Bc%2Fd%25"), ("é", "%C3%A9"),
        ("\u{0}\r\n", "%00%0D%0A"),
    ])
    func `Everything but unreserved characters is encoded`(_ text: String, _ encoded: String) {
        #expect(PercentCoding.encode(text) == encoded)
        #expect(PercentCoding.decode(encoded) == text)
        #expect(PercentCoding.decodeLeniently(encoded) == text)
    }

    @Test func `What is kept and the case of digits can be chosen`() {
        let kept = ByteSet.visible.subtracting(ByteSet("%"))
        #expect(PercentCoding.encode("a/b?%\u{7F}ÿ", keeping: kept, hexCase: .lower) == "a/b?%25%7f%c3%bf")
    }

    @Test func `Every byte comes back`() {
        for scalar in 0..<0x300 {
            guard let scalar = Unicode.Scalar(scalar) else { continue }
            let text = "x\(scalar)y"
            #expect(PercentCoding.decode(PercentCoding.encode(text)).map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test(arguments: ["%", "%4", "a%zz", "%+1", "%C3", "%ff", "%\u{0664}1", "%ED%A0%80"])
    func `Broken escapes are refused`(_ text: String) {
        #expect(PercentCoding.decode(text) == nil)
    }

    @Test(arguments: [("%", "%"), ("%4", "%4"), ("a%zz%41", "a%zzA"), ("%C3", "\u{FFFD}"), ("%25%34", "%4")])
    func `Broken escapes stay when read leniently`(_ text: String, _ decoded: String) {
        #expect(PercentCoding.decodeLeniently(text) == decoded)
    }

    @Test func `Plus is a blank in forms only`() {
        #expect(PercentCoding.decode("a+b%2B") == "a+b+")
        #expect(PercentCoding.decode("a+b%2B", plusIsBlank: true) == "a b+")
        #expect(PercentCoding.decodeLeniently("a+b%2B", plusIsBlank: true) == "a b+")
        #expect(PercentCoding.decode("a+b".utf8, plusIsBlank: true) == "a b")
    }

    @Test(arguments: [("a%20b", true), ("%e4", true), ("ab", false), ("", false), ("a b%20", false), ("%2", false)])
    func `Encoded text is recognised`(_ text: String, _ isEncoded: Bool) {
        #expect(PercentCoding.isEncoded(text) == isEncoded)
    }
}

struct ByteSetTests {
    @Test func `Sets hold their bytes`() {
        for byte in UInt8.min ... .max {
            let character = Character(Unicode.Scalar(byte))
            #expect(ByteSet.digits.contains(byte) == ("0"..."9").contains(character))
            #expect(ByteSet.hexDigits.contains(byte) == (byte < 0x80 && character.isHexDigit))
            let isAlphanumeric = byte < 0x80 && (character.isLetter || character.isNumber)
            #expect(ByteSet.alphanumerics.contains(byte) == isAlphanumeric)
            #expect(ByteSet.unreserved.contains(byte) == (isAlphanumeric || "-._~".contains(character)))
            #expect(ByteSet.visible.contains(byte) == (0x21...0x7E).contains(byte))
        }
        #expect(ByteSet.lowerHexDigits.containsAll("09af") && !ByteSet.lowerHexDigits.containsAll("0A"))
        #expect(ByteSet.digits.containsAll("") && !ByteSet.digits.containsAll("1\u{661}"))
    }

    @Test func `Bytes are written as hex`() {
        #expect(([0x00, 0x0F, 0xA0, 0xFF] as [UInt8]).hex == "000fa0ff")
    }
}
