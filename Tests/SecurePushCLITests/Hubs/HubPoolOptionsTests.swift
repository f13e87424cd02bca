import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import SecurePushCLI

@Suite struct HubPoolOptionsTests {
    @Test func `A missing file is told with the option`() throws {
        let missing = #expect(throws: CommandFailure.self) {
            try HubPoolOptions.parse(["--hub-pool-file", "/nowhere/hubs"]).settings
        }
        #expect(missing?.code == .configuration)
        #expect(missing?.message.hasPrefix("--hub-pool-file: /nowhere/hubs: ") == true)
        let both = #expect(throws: CommandFailure.self) {
            try Settings(["HUB_POOL_FILE": "/nowhere/hubs", "HUB_NAME": "hub"]).hubs()
        }
        #expect(both?.message == "HUB_POOL_FILE and HUB_NAME are both set.")
    }

    @Test func `A wrong line is told with the option or the setting, and the file`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/hubs"
            try Data("# hubs\nhub-a secret-key\n".utf8).write(to: URL(filePath: path))
            let option = #expect(throws: CommandFailure.self) {
                try HubPoolOptions.parse(["--hub-pool-file", path]).settings
            }
            let setting = #expect(throws: CommandFailure.self) { try Settings(["HUB_POOL_FILE": path]).hubs() }
            for (failure, origin) in [(option, "--hub-pool-file"), (setting, "HUB_POOL_FILE")] {
                let failure = try #require(failure)
                #expect(failure.code == .configuration)
                #expect(failure.message.hasPrefix("\(origin): \(path): Line 2: "), "\(failure.message)")
                #expect(!failure.message.contains("secret"))
            }
        }
    }
}
