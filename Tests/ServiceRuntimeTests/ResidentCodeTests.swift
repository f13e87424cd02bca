import Foundation
import Testing

@testable import ServiceRuntime

#if os(Linux)
@Suite struct ResidentCodeTests {
    /// The resident pages of files, in KiB (proc(5)).
    private func residentFiles() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    @Test func codeIsMappedAgainWhenItIsUsed() throws {
        let before = try residentFiles()
        ResidentCode.release()
        // Other tests run at the same time, and map their code again.
        #expect(try residentFiles() < before)
        #expect((1...9).map(String.init).joined() == "123456789")
    }
}
#endif
