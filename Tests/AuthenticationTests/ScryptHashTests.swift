import Crypto
import Foundations
import Testing

@testable import Authentication

struct ScryptHashTests {
    @Test(arguments: [
        (
            "", "", 4, 1, 1,
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e"
                + "0fb2e0d3628cf35e20c38d18906"
        ),
        (
            "password", "NaCl", 10, 8, 16,
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb9"
                + "4a83ee6d8360cbdfa2cc0640"
        ),
    ])
    func `Vectors of RFC 7914`(password: String, salt: String, ln: Int, r: Int, p: Int, expected: String) throws {
        let key = try ScryptHash.derive(
            Array(password.utf8), salt: Array(salt.utf8),
            parameters: .init(logCost: ln, blockSize: r, parallelism: p), byteCount: 64)
        #expect(key.withUnsafeBytes { Array($0).hex } == expected)
    }

    @Test func `A hash that was made is verified`() throws {
        let hash = try PasswordHash.make(password: "pässwörd")
        #expect(hash.hasPrefix("$scrypt$ln=14,r=8,p=1$"))
        #expect(try PasswordHash.verify("pässwörd", hash))
        #expect(try !PasswordHash.verify("passwörd", hash))
        #expect(try PasswordHash.make(password: "pässwörd") != hash)
        #expect(try ScryptHash(hash).text == hash)
    }

    @Test(arguments: ["", "a\nb", "\u{0}", "\u{7F}", String(repeating: "x", count: 1025)])
    func `Passwords that cannot be used`(password: String) {
        #expect(throws: SetupError.self) { try PasswordHash.make(password: password) }
    }

    private static let salt = "c2FsdHNhbHQ"
    private static let hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

    @Test func `The parts of a hash are read`() throws {
        let hash = try ScryptHash("$scrypt$ln=17,r=8,p=1$\(Self.salt)$\(Self.hash)")
        #expect(hash.parameters == .init(logCost: 17, blockSize: 8, parallelism: 1))
        #expect(hash.salt == Array("saltsalt".utf8))
        #expect(hash.hash.count == 32)
    }

    @Test(arguments: [
        "", "x", "$scrypt$", "$argon2id$ln=14,r=8,p=1$\(salt)$\(hash)", "scrypt$ln=14,r=8,p=1$\(salt)$\(hash)",
        "$scrypt$ln=14,r=8,p=1$\(salt)", "$scrypt$ln=14,r=8,p=1$\(salt)$\(hash)$",
        "$scrypt$ln=14,r=8$\(salt)$\(hash)",
        "$scrypt$r=8,ln=14,p=1$\(salt)$\(hash)", "$scrypt$ln=14,r=8,p=1,x=1$\(salt)$\(hash)",
        "$scrypt$ln=18,r=8,p=1$\(salt)$\(hash)", "$scrypt$ln=0,r=8,p=1$\(salt)$\(hash)",
        "$scrypt$ln=17,r=16,p=1$\(salt)$\(hash)", "$scrypt$ln=14,r=33,p=1$\(salt)$\(hash)",
        "$scrypt$ln=14,r=8,p=17$\(salt)$\(hash)", "$scrypt$ln=17,r=8,p=16$\(salt)$\(hash)",
        "$scrypt$ln=014,r=8,p=1$\(salt)$\(hash)", "$scrypt$ln=+14,r=8,p=1$\(salt)$\(hash)",
        "$scrypt$ln=99999999999999999999,r=8,p=1$\(salt)$\(hash)", "$scrypt$ln=14,r=8,p=0$\(salt)$\(hash)",
        "$scrypt$ln=14,r=8,p=1$\(salt)=$\(hash)", "$scrypt$ln=14,r=8,p=1$AAAA$\(hash)",
        "$scrypt$ln=14,r=8,p=1$\(salt)$AAAA",
        "$scrypt$ln=14,r=8,p=1$$\(hash)", "$scrypt$ln=14,r=8,p=1$\(salt)$",
    ])
    func `Other texts are no hashes`(text: String) {
        #expect(throws: SetupError.self) { try ScryptHash(text) }
    }
}
