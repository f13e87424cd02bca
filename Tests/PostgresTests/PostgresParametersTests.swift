import Testing

@testable import Postgres

struct PostgresParametersTests {
    @Test func `An array is laid out as the server reads it`() {
        var parameters = PostgresParameters()
        parameters.append([1, nil] as [Int16?]) { $0 }
        let expected: [UInt8] = [
            0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 21, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 255, 255, 255, 255,
        ]
        #expect(parameters.bytes == expected)
        #expect(parameters.types == [.int2Array])
    }

    @Test func `An empty array has no dimensions`() {
        var parameters = PostgresParameters()
        parameters.append([] as [String]) { $0 }
        #expect(parameters.bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25])
    }

    @Test func `Null takes no bytes`() {
        var parameters = PostgresParameters()
        parameters.append(nil as Int64?)
        parameters.append("")
        #expect(parameters.bytes.isEmpty)
        #expect(parameters.fields.map(\.length) == [-1, 0])
    }
}
