import Foundation
import Testing

@testable import SecurePushCLI

@Suite struct LoadMessageTests {
    private struct Body: Decodable, Equatable {
        var recipient: String
        var payload: String
        var platforms: [String]?
    }

    private func bodies(_ plan: LoadPlan, _ range: Range<Int>) throws -> [Body] {
        try String(decoding: LoadMessage(plan).body(range, inLines: true), as: UTF8.self).split(separator: "\n")
            .map { try JSONCoding.decode(Body.self, from: String($0)) }
    }

    @Test func `Recipients take turns`() throws {
        let bodies = try bodies(LoadPlan(count: 5, recipients: 2), 0..<5)
        #expect(
            bodies.map(\.recipient)
                == ["load-000001", "load-000002", "load-000001", "load-000002", "load-000001"])
        #expect(LoadPlan(recipients: 1_000_000).name(ofRecipient: 999_999) == "load-1000000")
    }

    @Test func `One recipient, by any name, and some platforms`() throws {
        let name = #"a"\é"#
        let body = try #require(try bodies(LoadPlan(recipient: name, platforms: ["apple", "gcm"]), 7..<8).first)
        #expect(body.recipient == name)
        #expect(body.platforms == ["apple", "gcm"])
    }

    @Test(arguments: [1, 10, 100, 262_144])
    func `The payload has the length asked for`(size: Int) throws {
        let message = try LoadMessage(LoadPlan(payloadSize: size))
        #expect(message.payload.utf8.count == size)
        let body = String(decoding: message.body(0..<1, inLines: false), as: UTF8.self)
        #expect(try JSONCoding.decode(Body.self, from: body).payload == message.payload)
    }

    @Test func `Payloads of two tests differ`() throws {
        let plan = LoadPlan(payloadSize: 60)
        #expect(try LoadMessage(plan).payload != LoadMessage(plan).payload)
    }
}
