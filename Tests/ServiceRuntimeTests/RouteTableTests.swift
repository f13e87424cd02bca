import Testing

@testable import ServiceRuntime

@Suite("Methods of a path")
struct RouteTableTests {
    @Test(arguments: [
        ("/a", ["GET", "POST"]), ("/a/", ["GET", "POST"]), ("/a/1", ["DELETE"]), ("/b/c.json", ["PUT"]),
        ("/deep/x/y/z", ["PATCH"]), ("/a/1/2", []), ("/", []), ("/A", []),
        // As the router: what is written out has the path to itself.
        ("/a/batch", ["POST"]),
    ])
    func `A path has the methods of its routes`(path: String, expected: [String]) {
        let table = RouteTable()
        table.set([
            ("/a", "POST"), ("/a", "GET"), ("/a/{id}", "DELETE"), ("/a/batch", "POST"), ("/b/:name", "PUT"),
            ("/deep/**", "PATCH"),
        ])
        #expect(table.methods(of: path) == expected)
    }
}
