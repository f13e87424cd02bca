import Postgres
import TestSupport
import Testing

struct ValueRoundTripTests {
    private func roundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable & Sendable>(
        _ values: [Value?], as type: String
    ) async throws {
        try await withConnection { connection in
            let single = PostgresStatement("SELECT $1::\(type)")
            for value in values {
                var parameters = PostgresParameters()
                parameters.append(value)
                let result = try await connection.query(single, parameters)
                #expect(try result.first?.decodeIfPresent(0, as: Value.self) == value)
            }
            var parameters = PostgresParameters()
            parameters.append(values) { $0 }
            let rows = try await connection.query(PostgresStatement("SELECT unnest($1::\(type)[])"), parameters)
            #expect(try rows.map { try $0.decodeIfPresent(0, as: Value.self) } == values)
        }
    }

    @Test func `Booleans come back`() async throws { try await roundTrip([true, false, nil], as: "bool") }
    @Test func `Small integers come back`() async throws {
        try await roundTrip([0, -1, .min, .max, nil] as [Int16?], as: "int2")
    }
    @Test func `Integers come back`() async throws {
        try await roundTrip([0, -1, .min, .max, nil] as [Int32?], as: "int4")
    }
    @Test func `Big integers come back`() async throws {
        try await roundTrip([0, -1, .min, .max, nil] as [Int64?], as: "int8")
    }

    @Test func `Texts come back`() async throws {
        try await roundTrip(["", "plain", "é", "e\u{301}", "日本 🎉", "quote ' \" \\", "{a,NULL}", nil], as: "text")
    }

    @Test func `Bytes come back`() async throws {
        let large = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
            for index in 0..<(1 << 20) { buffer[index] = UInt8(truncatingIfNeeded: index &* 31) }
            count = 1 << 20
        }
        try await roundTrip([[], [0], [UInt8](0...255), large, nil], as: "bytea")
    }

    @Test func `UUIDs come back`() async throws {
        try await roundTrip([PostgresUUID(high: 0, low: 1), PostgresUUID(high: .max, low: 1 << 63), nil], as: "uuid")
        try await withConnection { connection in
            var parameters = PostgresParameters()
            parameters.append(PostgresUUID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10))
            let result = try await connection.query(PostgresStatement("SELECT $1::uuid::text"), parameters)
            #expect(try result.first?.decode(0) == "01020304-0506-0708-090a-0b0c0d0e0f10")
        }
    }

    @Test func `An empty array gives no rows`() async throws {
        try await withConnection { connection in
            var parameters = PostgresParameters()
            parameters.append([] as [PostgresUUID]) { $0 }
            let result = try await connection.query(PostgresStatement("SELECT unnest($1::uuid[])"), parameters)
            #expect(result.isEmpty)
        }
    }

    @Test(arguments: [
        ("NULL::int8", "Column 0 (n) is NULL."), ("1::int4", "Column 0 (n) is int4, not Int64."),
        ("'x'::text", "Column 0 (n) is text, not Int64."),
    ])
    func `A column that is something else is refused`(_ value: String, _ message: String) async throws {
        try await withConnection { connection in
            let row = try #require(try await connection.query(PostgresStatement("SELECT \(value) AS n")).first)
            let refused = #expect(throws: PostgresError.self) { try row.decode(0, as: Int64.self) }
            #expect(refused == PostgresError(.decoding, message))
            for column in [1, -1] {
                let missing = #expect(throws: PostgresError.self) { try row.decode(column, as: Int64.self) }
                #expect(missing == PostgresError(.decoding, "There is no column \(column)."))
            }
        }
    }

    @Test func `Affected rows are counted`() async throws {
        try await withConnection { connection in
            try await connection.execute(["CREATE TEMPORARY TABLE counted (n int)"])
            let insert = PostgresStatement("INSERT INTO counted SELECT generate_series(1, 7)")
            #expect(try await connection.query(insert).affectedRows == 7)
        }
    }
}
