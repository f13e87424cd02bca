import Domain
import Testing

struct HubSelectionTests {
    /// By a program in another language: devices are registered by this rule, so it never changes.
    @Test(arguments: [
        ("alice", "hub-b", "hub-c"), ("bob", "hub-a", "hub-a"), ("carol", "hub-b", "hub-c"),
        ("dave", "hub-a", "hub-a"), ("Alice", "hub-b", "hub-b"), ("\u{E9}", "hub-b", "hub-c"),
        ("load-000001", "hub-a", "hub-a"),
    ])
    func `The selection is the documented one`(_ name: String, _ ofTwo: String, _ ofThree: String) throws {
        let user = try #require(UserName(name))
        #expect(HubSelection(["hub-a", "hub-b"]).name(for: user) == ofTwo)
        #expect(HubSelection(["hub-a", "hub-b", "hub-c"]).name(for: user) == ofThree)
        #expect(HubSelection(["hub-a"]).name(for: user) == "hub-a")
    }

    @Test func `Neither the order nor the case of the names matters`() throws {
        let (one, other) = (HubSelection(["hub-a", "hub-b", "hub-c"]), HubSelection(["Hub-C", "HUB-A", "hub-b"]))
        #expect(one.names == other.names)
        for number in 0..<200 {
            let user = try #require(UserName("user-\(number)"))
            #expect(one.name(for: user) == other.name(for: user))
        }
    }

    @Test(arguments: [1, 2, 3, 7])
    func `A new hub takes only its share`(_ count: Int) throws {
        let names = (0..<count).map { "hub-\($0)" }
        let (before, after) = (HubSelection(names), HubSelection(names + ["new"]))
        let users = 20_000
        var moved = 0
        var perHub: [String: Int] = [:]
        for number in 0..<users {
            let user = try #require(UserName("user-\(number)"))
            let (old, new) = (before.name(for: user), after.name(for: user))
            perHub[new, default: 0] += 1
            guard old != new else { continue }
            moved += 1
            #expect(new == "new")
        }
        let share = Double(users) / Double(count + 1)
        // Six standard deviations.
        let tolerance = 6 * share.squareRoot()
        #expect(abs(Double(moved) - share) < tolerance)
        #expect(perHub.count == count + 1 && perHub.values.allSatisfy { abs(Double($0) - share) < tolerance })
    }

    @Test func `The table follows the selection`() throws {
        let table = HubTable([
            HubTable<Int>.Member(label: "Hub-C", client: 3), .init(label: "hub-a", client: 1),
            .init(label: "hub-b", client: 2),
        ])
        #expect(table.members.map(\.name) == ["hub-a", "hub-b", "hub-c"])
        #expect(table.members.map(\.client) == [1, 2, 3])
        let alice = try #require(UserName("alice"))
        #expect(table.member(for: alice).label == "Hub-C")
        #expect(table.member(of: alice.tag) === table.member(named: "hub-c"))
        #expect(table.member(named: "hub-d") == nil)
    }
}
