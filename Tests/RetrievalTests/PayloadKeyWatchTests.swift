import Domain
import Foundation
import Foundations
import Logging
import TestSupport
import Testing

@testable import Retrieval

@Suite struct PayloadKeyWatchTests {
    /// Puts a new key into the ring, before these lines.
    private func replace(_ path: String, by lines: String) throws {
        try Data((PayloadKeyRing.newLine(id: "other") + "\n" + lines).utf8)
            .write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test func `A key that stored payloads need and the ring does not hold is named until it is back`() async throws {
        try await withRetrieval { bench in
            for text in ["1", "2"] { _ = try await bench.accept(text) }
            let path = bench.folder + "/payload-keys"
            let ring = try String(contentsOfFile: path, encoding: .utf8)
            let key = bench.sealer.keyRing.keyIDs[0]
            let watch = PayloadKeyWatch(store: bench.store, sealer: bench.sealer, logger: .silent)
            #expect(await watch.look() == .seconds(300) && watch.problem == nil)

            try replace(path, by: "")
            await bench.sealer.check()
            #expect(watch.problem == "the key ring has no key \(key), so 2 payloads cannot be opened")
            #expect(await watch.look() == .seconds(300) && watch.problem?.contains(key) == true)

            try replace(path, by: ring)
            await bench.sealer.check()
            #expect(watch.problem == nil)
        }
    }

    @Test func `A store that is away says nothing about keys, and is asked again soon`() async throws {
        try await withRetrieval { bench in
            let watch = PayloadKeyWatch(store: AwayStore(), sealer: bench.sealer, logger: .silent)
            #expect(await watch.look() == .seconds(5) && watch.problem == nil)
        }
    }
}
