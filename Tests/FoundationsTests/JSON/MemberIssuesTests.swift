import Foundations
import Testing

struct MemberIssuesTests {
    @Test func `Each is listed once and the rest is counted`() {
        var issues = MemberIssues()
        #expect(issues.isEmpty)
        for index in 0..<150 {
            for _ in 0..<2 { issues.note("/\(index % 120)", "bad") }
        }
        #expect(issues.entries.map(\.pointer) == (0..<100).map { "/\($0)" })
        // Twenty members, each found twice: only listed issues are remembered.
        #expect(issues.omitted == 40)
        issues.note("/0", "bad in another way")
        #expect(issues.omitted == 41)
    }

    @Test(arguments: [
        ("/" + String(repeating: "a", count: 511), "/" + String(repeating: "a", count: 511)),
        ("/" + String(repeating: "a", count: 512), ""),
        ("/Alert/" + String(repeating: "\u{1F511}", count: 200), "/Alert"),
        ("/a/" + String(repeating: "~1", count: 300) + "/b", "/a"),
    ])
    func `A pointer that is too long ends at the member around it`(_ pointer: String, _ shortened: String) throws {
        var issues = MemberIssues()
        issues.note(pointer, "Bad.")
        let issue = try #require(issues.entries.first)
        #expect(issue.pointer == shortened)
        #expect((issue.detail == "Bad.") == (pointer == shortened))
        #expect(issue.detail.hasPrefix("Bad."))
    }
}
