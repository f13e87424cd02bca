import Foundations
import Testing

@testable import Hub

@Suite struct RegistrationTableTests {
    private func registration(_ id: String, tags: String = "") throws -> RegistrationEntry {
        try RegistrationEntry(id: id, entry: Array(TestEntry.apple("A\(id)", tags: tags).utf8), receivedAt: .now)
    }

    @Test func `Listings keep the order through updates and many deletions`() throws {
        var table = RegistrationTable()
        for number in 0..<500 { _ = try table.put(try registration("\(number)"), condition: .none) }
        for number in 0..<500 where number % 50 != 0 { _ = try table.remove("\(number)", condition: .any) }
        _ = try table.put(try registration("100"), condition: .none)
        let ids = table.page(after: 0, limit: 100) { _ in true }.page.map(\.id)
        #expect(ids == stride(from: 0, to: 500, by: 50).map(String.init))
        #expect(table.count == 10)
        let place = try #require(table["200"]).sequence
        #expect(table.page(after: place, limit: 2) { _ in true }.page.map(\.id) == ["250", "300"])
    }

    @Test func `Index and evaluation agree`() throws {
        var table = RegistrationTable()
        let tags = ["a", "b", "c"]
        for number in 0..<200 {
            let own = tags.filter { _ in Bool.random() }.joined(separator: ",")
            _ = try table.put(try registration("\(number % 150)", tags: own), condition: .none)
        }
        for text in ["a", "a||b", "a||b||c", "a&&b", "!a", "!a&&(b||c)"] {
            let expression = try #require(try TagExpression.parse(text))
            let expected = table.page(after: 0, limit: 1000) { expression.matches($0.lowercasedTags) }.page.map(\.id)
            #expect(table.targets(of: .apple, expression: expression).map(\.id) == expected)
        }
    }
}
