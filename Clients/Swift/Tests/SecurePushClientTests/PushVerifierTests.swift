import Foundation
import Testing

@testable import SecurePushClient
@testable import SecurePushEnvelope

#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// Signs pushes as the dispatcher does.
struct PushSigner {
    let key = P256.Signing.PrivateKey()

    var keys: PushKeySet {
        get throws { try PushKeySet(jwkSet: jwkSet) }
    }

    /// The members of the public key, as a JWK has them.
    var jwkMembers: String {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        return #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)""#
    }

    /// The public key behind one of another kind and one that is not complete.
    var jwkSet: Data {
        Data(#"{"keys":[{"kty":"OKP","crv":"Ed25519"},{"kty":"EC","crv":"P-256"},7,{\#(jwkMembers)}]}"#.utf8)
    }

    func members(_ id: String, user: String = "alice", ts: String, isWithdrawal: Bool = false) throws -> [String:
        String]
    {
        let end = isWithdrawal ? "withdraw\n" : ""
        let signature = try key.signature(for: Data("securepush-push-v1\n\(id)\n\(user)\n\(ts)\n\(end)".utf8))
            .rawRepresentation
        var members = ["secureId": id, "ts": ts, "sig": Base64URL.encode(signature)]
        if isWithdrawal { members["withdraw"] = "1" }
        return members
    }
}

@Suite(.timeLimit(.minutes(10))) struct PushVerifierTests {
    private static let now = 1_800_000_000.0
    private let signer = PushSigner()

    private func fault(_ members: [String: String], user: String = "alice", after seconds: Double = 0) throws
        -> DiagnosticCode?
    {
        let verifier = PushVerifier(keys: try signer.keys, maxAge: 28 * 86_400)
        return verifier.verdict(
            of: IncomingPush(data: members), for: user, at: Date(timeIntervalSince1970: Self.now + seconds)
        ).fault
    }

    @Test func aGenuinePushIsAccepted() throws {
        let members = try signer.members("01", ts: "1800000000")
        #expect(try fault(members) == nil)
        #expect(try fault(members, after: 28 * 86_400) == nil)
        #expect(try fault(members, after: 28 * 86_400 + 1) == .tooOld)
        // The device's clock is behind. More than a day is nobody's clock.
        #expect(try fault(members, after: -86_400) == nil)
        #expect(try fault(members, after: -86_401) == .tooOld)
        #expect(try fault(try signer.members("01", ts: "1800000000", isWithdrawal: true)) == nil)
    }

    @Test func everyChangeIsAForgery() throws {
        let members = try signer.members("01", ts: "1800000000")
        let changes: [(String, String?)] = [
            ("secureId", "02"), ("ts", "1800000001"), ("ts", "01800000000"), ("ts", "+1800000000"), ("ts", nil),
            ("ts", "1800000000\n"), ("ts", "18e8"), ("sig", nil), ("sig", ""), ("sig", "AAAA"), ("withdraw", "1"),
            ("sig", (members["sig"] ?? "") + "="), ("sig", String((members["sig"] ?? "").reversed())),
        ]
        for (name, value) in changes {
            var forged = members
            forged[name] = value
            #expect(try fault(forged) == .badSignature, "\(name)=\(value ?? "nil")")
        }
        #expect(try fault(members, user: "bob") == .badSignature)
        let stranger = PushSigner()
        #expect(try fault(try stranger.members("01", ts: "1800000000")) == .badSignature)
        // A signature of the push is none of the withdrawal.
        var withdrawal = try signer.members("01", ts: "1800000000", isWithdrawal: true)
        withdrawal["withdraw"] = nil
        #expect(try fault(withdrawal) == .badSignature)
    }

    @Test func aForgedPushCausesNoRequestAboutItAndShowsNothing() async throws {
        let phone = try await SimulatedPhone(keys: try signer.keys)
        phone.server.add("01")
        for members in [
            ["secureId": "01"], try PushSigner().members("01", ts: "1800000000"),
            try signer.members("01", user: "bob", ts: "1800000000"), ["secureId": "01", "withdraw": "1"],
            ["secureId": "../../evil"], try signer.members("01", ts: "1700000000"),
        ] {
            let report = await phone.client.handle(push: IncomingPush(data: members))
            #expect(report.result == .noData && report.code != nil)
        }
        // A signature by an unknown key: the server may have a new one.
        #expect(phone.requests == ["GET push-keys"])
        #expect(await phone.screen.noticed.isEmpty)
        let genuine = IncomingPush(data: try signer.members("01", ts: "1800000000"))
        #expect(await phone.client.handle(push: genuine).shown.count == 1)
    }

    @Test func rotatedKeysAreLearnedAtTheRegistration() async throws {
        let phone = try await SimulatedPhone(keys: try PushSigner().keys)
        phone.server.add("01")
        phone.server.change { $0.pushKeys = signer.jwkSet }
        try await phone.client.register(PushDevice(platform: .apns, channel: "AB"))
        let push = IncomingPush(data: try signer.members("01", ts: "1800000000"))
        #expect(await phone.client.handle(push: push).shown.count == 1)
        let asked = phone.server.change { state in
            state.requests.filter { $0.url.path.hasSuffix("push-keys") }.map { $0.headers["Authorization"] }
        }
        #expect(asked == [nil])
    }

    /// The server's `PUSH_VERIFICATION_KEYS_FILE` has at most 32 keys.
    @Test func theLastOfAsManyKeysAsTheServerAllowsIsTried() throws {
        let others = (1..<32).map { _ in PushSigner() }
        let keys = (others + [signer]).map { "{\($0.jwkMembers)}" }
        let set = try PushKeySet(jwkSet: Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
        let push = IncomingPush(data: try signer.members("01", ts: "1800000000"))
        let verifier = PushVerifier(keys: set, maxAge: 28 * 86_400)
        #expect(verifier.verdict(of: push, for: "alice", at: Date(timeIntervalSince1970: Self.now)) == .genuine)
    }

    @Test func aKeySetWithoutKeysIsRefused() {
        let zeros = String(repeating: "A", count: 43)
        for text in [
            "", "{}", #"{"keys":[]}"#, #"{"keys":{}}"#, #"{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}"#,
            // Not on the curve; a repeated name; a kid that is no text; a byte order mark.
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}]}"#,
            #"{"keys":[{\#(signer.jwkMembers),"kty":"EC"}]}"#, #"{"keys":[{\#(signer.jwkMembers),"kid":7}]}"#,
            "\u{FEFF}{\"keys\":[{\(signer.jwkMembers)}]}",
        ] {
            #expect(throws: PushKeySet.Malformed.self) { try PushKeySet(jwkSet: Data(text.utf8)) }
        }
        #expect(throws: PushKeySet.Malformed.unreadable) {
            try PushKeySet(jwkSet: Data(repeating: UInt8(ascii: " "), count: PushKeySet.maxBytes + 1))
        }
    }
}

extension PushVerifier.Verdict {
    /// Why the push is ignored in the end; `nil` if it is genuine.
    var fault: DiagnosticCode? {
        switch self {
        case .genuine: nil
        case .refused(let code): code
        case .unknownKey: .badSignature
        }
    }
}
