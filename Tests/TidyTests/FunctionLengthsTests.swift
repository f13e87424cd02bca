import Testing

/// The ruler itself.
@Suite struct FunctionLengthsTests {
    @Test func `Nested functions are measured`() {
        let lines = [
            "struct A {", "    func outer() {", "        func inner() {", "        }", "    }",
            "    init(", "        a: Int", "    ) {", "    }", "}",
        ]
        let functions = FunctionLengths.of(lines)
        #expect(functions.map(\.line) == [3, 2, 6])
        #expect(functions.map(\.length) == [2, 4, 4])
    }

    @Test func `Braces in strings do not count`() {
        let lines = ["func a() {", #"    b("{ \" {")"#, ##"    c(#"{ " {"#)"##, "}", "func d() {}"]
        #expect(FunctionLengths.of(lines).map(\.length) == [4, 1])
    }

    @Test func `Imports are read`() {
        let file = SourceFile(
            path: "Shared/A/B.swift",
            lines: ["public import Logging", "import struct Foundation.URL", "@testable import Ingest", "let a = 1"])
        #expect(file.imports == ["Logging", "Foundation", "Ingest"])
        #expect(file.module == "Shared/A")
    }
}
