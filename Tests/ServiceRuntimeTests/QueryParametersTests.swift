import Foundations
import Testing

@testable import ServiceRuntime

@Suite struct QueryParametersTests {
    static let known = ["Name", "Limit"]

    /// What a query says, and the pointers of what is wrong with it.
    static func read(_ query: String?) -> (name: String?, limit: Int?, pointers: [String]) {
        var parameters = QueryParameters(query, known: known)
        let name = parameters.take("Name", "Not empty.") { $0.isEmpty ? nil : $0 }
        let limit = parameters.takeNumber("Limit", in: 1...9)
        do {
            try parameters.check()
            return (name, limit, [])
        } catch {
            return (name, limit, error.errors.map(\.pointer))
        }
    }

    @Test(
        arguments: [
            (nil, nil, nil), ("", nil, nil), ("&&", nil, nil), ("Name=a", "a", nil), ("nAmE=a&LIMIT=9", "a", 9),
            ("Name=a+b%20%2B%c3%A9=&", "a b +é=", nil), ("N%61me=a%26b", "a&b", nil), ("Limit=007", nil, 7),
        ] as [(String?, String?, Int?)])
    func `Values are decoded`(_ query: String?, _ name: String?, _ limit: Int?) {
        let read = Self.read(query)
        #expect(read.pointers == [])
        #expect(read.name == name)
        #expect(read.limit == limit)
    }

    @Test(arguments: [
        ("Name", ["/Name"]), ("Name=", ["/Name"]), ("Name=%", ["/Name"]), ("Name=%f", ["/Name"]),
        ("Name=%C3", ["/Name"]), ("Name=%C0%80", ["/Name"]), ("Name=%+1", ["/Name"]), ("Limit=0", ["/Limit"]),
        ("Limit=10", ["/Limit"]), ("Limit=%D9%A1", ["/Limit"]), ("=1", ["/"]), ("%zz=1", [""]),
        ("Name=a&name=b", ["/Name"]), ("Name=%FF&name=b", ["/Name", "/Name"]), ("x/y=1&Limit=", ["/x~1y", "/Limit"]),
    ])
    func `What is wrong is named`(_ query: String, _ pointers: [String]) {
        #expect(Self.read(query).pointers == pointers)
    }

    @Test func `A path that took none ignores the others`() throws {
        for query in ["x=1&_=2&Name=a&%zz=1", "%FF=1&name=a"] {
            var parameters = QueryParameters(query, known: ["Name"], ignoresUnknown: true)
            let name = parameters.take("Name", "") { $0 }
            try parameters.check()
            #expect(name == "a")
        }
        var parameters = QueryParameters("Name=b&x=1&name=c", known: ["Name"], ignoresUnknown: true)
        #expect(parameters.take("Name", "") { $0 } == "b")
        #expect(throws: Problem.self) { try parameters.check() }
    }
}
