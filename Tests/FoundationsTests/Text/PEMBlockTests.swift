import Foundations
import Testing

@Suite struct PEMBlockTests {
    private static func block(_ label: String, _ lines: String = "AQID") -> String {
        "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
    }

    @Test(arguments: [
        block("PRIVATE KEY"), block("EC PARAMETERS", "BggqhkjOPQMBBw==") + block("EC PRIVATE KEY"),
        "Bag Attributes\n  friendlyName: x\nKey Attributes: <No Attributes>\n" + block("PRIVATE KEY"),
        block("PRIVATE KEY", "AQ\r\n ID").replacing("\n", with: "\r\n"), block("PRIVATE KEY") + block("CERTIFICATE"),
    ])
    func `The key is found`(_ text: String) throws {
        let key = try #require(try PEMBlock.privateKey(in: text))
        #expect(key.label.hasSuffix("PRIVATE KEY") && key.bytes == [1, 2, 3])
    }

    @Test(arguments: [
        block("ENCRYPTED PRIVATE KEY"),
        block("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF\n\nAQID"),
        block("EC PARAMETERS") + block("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\nAQID"),
    ])
    func `An encrypted key is named as such`(_ text: String) {
        let error = #expect(throws: SetupError.self) { try PEMBlock.privateKey(in: text) }
        #expect(error?.message.contains("encrypted") == true)
    }

    @Test(arguments: [
        "", "secret", block("PUBLIC KEY"), block("PRIVATE KEY") + block("EC PRIVATE KEY"),
        String(block("PRIVATE KEY").dropLast(7)), block("PRIVATE KEY").replacing("END ", with: "END EC "),
    ])
    func `Without exactly one key there is none`(_ text: String) throws {
        #expect(try PEMBlock.privateKey(in: text) == nil)
    }

    @Test func `Text that is not Base64 has no bytes`() throws {
        #expect(try PEMBlock.privateKey(in: Self.block("PRIVATE KEY", "A*ID"))?.bytes == nil)
    }
}
