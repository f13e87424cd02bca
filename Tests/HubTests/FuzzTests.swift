import Foundation
import Foundations
import HTTPTypes
import Testing

@testable import Hub

/// Seeded mutations of good inputs, thrown at every reader that takes bytes from a client. A reader may refuse; it may
/// not trap, hang, or take what it writes for another thing.
///
/// `EMULATOR_FUZZ_ROUNDS` makes it longer than the few seconds of the suite.
@Suite struct FuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["EMULATOR_FUZZ_ROUNDS"].flatMap(Int.init) ?? 5_000

    private static func run(_ seed: UInt64, _ corpus: [String], _ body: ([UInt8]) throws -> Void) rethrows {
        var generator = SplitMix64(seed: seed)
        let seeds = corpus.map { Array($0.utf8) }
        for _ in 0..<rounds { try body(mutated(seeds, &generator)) }
    }

    private static func mutated(_ seeds: [[UInt8]], _ generator: inout SplitMix64) -> [UInt8] {
        var bytes = seeds.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let at = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: at)
            case 1: if at < bytes.count { bytes.remove(at: at) }
            case 2: if at < bytes.count { bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            case 3: bytes.removeLast(bytes.count - at)
            case 4:
                let other = seeds.randomElement(using: &generator) ?? []
                bytes.insert(contentsOf: other.prefix(Int.random(in: 0...other.count, using: &generator)), at: at)
            default:
                let piece = Array(bytes.prefix(at).suffix(Int.random(in: 0...16, using: &generator)))
                for _ in 0..<Int.random(in: 1...8, using: &generator) { bytes.insert(contentsOf: piece, at: at) }
            }
        }
        return Array(bytes.prefix(8192))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `Tag expressions`() {
        let corpus = [
            "a", "a && !b || (c && d)", "$InstallationId:{ab-1=} || $UserId:{x}", "((((a))))", "!!!a", "größe||x",
        ]
        Self.run(1, corpus) { bytes in
            guard let expression = try? TagExpression.parse(Self.text(bytes)) else { return }
            #expect(expression.tags.count <= 20 && !expression.tags.isEmpty)
            _ = expression.matches(["a"])
        }
    }

    @Test func `Batches`() {
        let corpus = [
            "--B\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--B\r\n\r\n[\"a\"]\r\n--B--\r\n",
            "--B\n\nx\n--B--", "x\r\n--B\r\nA: \"\r\n\r\n--B\r\n--B--",
        ]
        Self.run(2, corpus) { bytes in
            guard let parts = try? MultipartReader.parts(of: bytes, contentType: "multipart/mixed; boundary=B")
            else { return }
            #expect(parts.reduce(0) { $0 + $1.body.count } <= bytes.count)
            for part in parts { _ = part.name }
        }
    }

    @Test func `Header parameters`() {
        Self.run(3, ["multipart/mixed; boundary=\"B;\\\"\"; x=y", "inline; name=devices"]) { bytes in
            _ = HeaderParameters.value(of: "boundary", in: Self.text(bytes))
        }
    }

    @Test func `Signatures`() {
        let corpus = [
            TestToken.make(), "SharedAccessSignature sr=http%3a%2f%2fh%2f&sig=a%2b%3d&se=99999999999&skn=R", "Bearer x",
        ]
        let authorizer = HubAuthorizer(
            rules: [SharedAccessRule(name: "R", primaryKey: "k", rights: .full)], endpointHost: "127.0.0.1")
        Self.run(4, corpus) { bytes in
            #expect(throws: HubError.self) {
                try authorizer.authorize(Self.text(bytes), authority: "h:1", path: "/hub/messages", right: .send)
            }
        }
    }

    @Test func `Documents`() {
        let corpus = [
            TestEntry.apple("AB", tags: "a, b"),
            "<?xml version=\"1.0\"?><a x='1'><!-- c --><![CDATA[d]]>&amp;&#65;</a>",
            "<a xmlns:b=\"c\"><b:d/></a>",
            ClientStyle.dotNet.entry("AppleRegistrationDescription", "<Tags/><DeviceToken>AB</DeviceToken>"),
            ClientStyle.dotNetManagement.entry(
                "NotificationHubJob", "<Type>ExportRegistrations</Type><OutputContainerUri>u</OutputContainerUri>"),
        ]
        Self.run(5, corpus) { bytes in
            guard let root = try? XMLReader.read(bytes) else { return }
            var written = ""
            XMLWriter.write(root, parentNamespace: "", to: &written)
            #expect(!written.isEmpty)
            _ = try? RegistrationEntry(id: "1", entry: bytes, receivedAt: .now)
        }
    }

    @Test func `Times, IDs, queries and paths`() {
        let corpus = [
            "2026-01-31T10:00:00.000Z", "2026-01-31'T'10:00:00+02:30", "%24top=1&%2Bx=%&direct", "/hub/%7b%257B/",
            "73622a22797441e4b434e8c2c14112ce-20181107001834-33331921-18", "DeviceToken eq 'a''b' and P256DH eq 'x'",
        ]
        Self.run(6, corpus) { bytes in
            let text = Self.text(bytes)
            _ = Timestamp(scheduleHeader: text)
            _ = HubMessageID.isPossible(text)
            _ = HubQuery(text)["direct"]
            _ = TokenAudience(resource: text)
            _ = PercentCoding.decodeRepeatedly(text)
            _ = try? RegistrationFilter(text)
            _ = HubConnectionString(text)
        }
    }

    @Test func `Templates`() throws {
        let corpus = [
            ##"{"aps":{"alert":"{'a' + $(b)}","badge":"#(n)"},"x":".(b, 5)%(b)$body"}"##,
            "<a b=\"$(b)\">{$(b) + 'c'}</a>",
            "{{{'", "$(b, 99999999999999999999)",
        ]
        let properties = try TemplateProperties(message: Array(#"{"b":"é\"<&","n":"40"}"#.utf8))
        Self.run(7, corpus) { bytes in
            let text = Self.text(bytes)
            for format in [NotificationFormat.apple, .windows] {
                _ = TemplateRenderer(TemplateTests.registration(format, text), properties).body
            }
            _ = try? TemplateProperties(message: bytes)
        }
    }

    @Test func `Installations and patches`() {
        let corpus = [
            #"[{"op":"add","path":"/tags","value":"x"},{"op":"remove","path":"/templates/a/b"}]"#,
            TestInstallation.full,
            #"{"platform":"apns","pushChannel":"AB","templates":{"a":{"body":"{}"}}}"#, "\"\\7", "null",
        ]
        Self.run(8, corpus) { bytes in
            _ = try? InstallationPatch(bytes)
            _ = try? HubInstallation(id: "i", document: bytes)
            _ = try? HubDescription(entry: bytes)
        }
    }
}
