import Foundation
import Testing

@testable import SecurePushClient
@testable import SecurePushEnvelope

/// The vectors that all SDKs run (`Clients/vectors`). The scenarios are in the fault table's tests, which have the
/// clock for them.
@Suite(.enabled(if: VectorFolder.isThere)) struct VectorTests {
    @Test(arguments: [("pushes.json", "cases"), ("hostile.json", "pushes")])
    func pushesAreRead(_ file: String, _ list: String) throws {
        let cases = try VectorFolder.cases(of: file, list)
        for vector in cases {
            let push = try #require(Self.push(vector))
            let expected = try vector.object("expect")
            if expected["accepted"] as? Bool == true {
                #expect(push.isSecurePush && push.id?.rawValue == expected["id"] as? String, "\(vector.name)")
                #expect(push.timestamp == expected["timestamp"] as? String, "\(vector.name)")
                #expect(push.signature == expected["signature"] as? String, "\(vector.name)")
                #expect(push.isWithdrawal == expected["withdraw"] as? Bool, "\(vector.name)")
            } else {
                let reason = push.isSecurePush ? "SP-PUSH" : "foreign"
                #expect(push.id == nil && reason == expected["reason"] as? String, "\(vector.name)")
            }
        }
        #expect(cases.count >= 50)
        print("Vectors, \(file), \(list): \(cases.count) cases, 0 skipped.")
    }

    private static func push(_ vector: VectorFolder.Vector) -> IncomingPush? {
        let push = vector.members["push"]
        switch vector.members["form"] as? String {
        case "object": return (push as? [String: Any]).map { IncomingPush(userInfo: $0) }
        case "data": return (push as? [String: String]).map { IncomingPush(data: $0) }
        case "raw": return (push as? String).map { IncomingPush(raw: $0) }
        case "text": return (push as? String).map { IncomingPush(json: Data($0.utf8)) }
        case "bytes": return (push as? String).flatMap { Data(base64Encoded: $0) }.map { IncomingPush(json: $0) }
        default: return nil
        }
    }

    @Test func signaturesAreVerified() throws {
        let cases = try VectorFolder.cases(of: "signatures.json")
        for vector in cases {
            let reason = try Self.fault(vector)
            #expect(reason == (try vector.object("expect"))["reason"] as? String, "\(vector.name)")
        }
        #expect(cases.count >= 50)
        print("Vectors, signatures.json: \(cases.count) cases, 0 skipped.")
    }

    /// As the client does it: by the keys that it has learned, or by the configured ones if it has learned none.
    private static func fault(_ vector: VectorFolder.Vector) throws -> String? {
        let push = try vector.object("push")
        var data = ["secureId": try #require(push["id"] as? String)]
        data["ts"] = push["timestamp"] as? String
        data["sig"] = push["signature"] as? String
        if push["withdraw"] as? Bool == true { data["withdraw"] = "1" }
        let user = try #require(vector.members["user"] as? String)
        let now = Date(timeIntervalSince1970: Double(try #require(vector.members["nowMs"] as? Int)) / 1_000)
        guard let keys = keys(vector, "learnedKeys") ?? keys(vector, "keys") else { return "SP-SIGNATURE" }
        let verifier = PushVerifier(keys: keys, maxAge: ClientLimits().maxPushAge)
        return verifier.verdict(of: IncomingPush(data: data), for: user, at: now).fault?.rawValue
    }

    /// `nil` for a set that cannot be used.
    private static func keys(_ vector: VectorFolder.Vector, _ name: String) -> PushKeySet? {
        vector.text(name).flatMap { try? PushKeySet(jwkSet: Data($0.utf8)) }
    }

    @Test func usersHaveTheirTags() throws {
        let cases = try VectorFolder.cases(of: "tags.json")
        for vector in cases {
            let user = try #require(vector.members["user"] as? String)
            #expect(UserTag.tag(of: user) == (try vector.object("expect"))["tag"] as? String, "\(vector.name)")
        }
        #expect(cases.count >= 30)
        print("Vectors, tags.json: \(cases.count) cases, 0 skipped.")
    }
}

/// `Clients/vectors`. The package alone, which `make client-release` splits off, has no such folder.
enum VectorFolder {
    struct Vector {
        let members: [String: Any]

        var name: String { members["name"] as? String ?? "no name" }

        func object(_ name: String) throws -> [String: Any] { try #require(members[name] as? [String: Any]) }

        /// JSON text: as it is, or of a value; `nil` for null.
        func text(_ name: String) -> String? {
            guard let value = members[name], !(value is NSNull) else { return nil }
            if let text = value as? String { return text }
            return (try? JSONSerialization.data(withJSONObject: value)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../vectors").standardizedFileURL

    static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func cases(of file: String, _ list: String = "cases") throws -> [Vector] {
        let data = try Data(contentsOf: folder.appendingPathComponent(file))
        let content = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return try #require(content?[list] as? [[String: Any]]).map(Vector.init)
    }
}
