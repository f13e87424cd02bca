import Foundations
import Testing

struct Base64Tests {
    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
    func `Vectors of RFC 4648`(text: String, encoded: String) {
        #expect(Base64.encode(text.utf8, .standard) == encoded)
        #expect(Base64.decode(encoded, .standard) == Array(text.utf8))
    }

    @Test func `Every byte comes back`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            for alphabet in [Base64.Alphabet.standard, .unpadded, .url] {
                #expect(Base64.decode(Base64.encode(bytes, alphabet), alphabet) == bytes)
            }
        }
    }

    @Test(arguments: ["Zh", "Zg==", "Zm9=", "Z", "Zm9v\n", "Zm+v", "Zm/v", "Zm 9v", "Zm9é"])
    func `URL texts that are not canonical`(text: String) {
        #expect(Base64.decode(text, .url) == nil)
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Zg===", "=Zg=", "Zm-v", "====", "Zg==Zg=="])
    func `Standard texts that are not canonical`(text: String) {
        #expect(Base64.decode(text, .standard) == nil)
    }
}
