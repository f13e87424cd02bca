import CLibPQ
import Domain
import Foundations

@testable import Postgres
@testable import Storage

extension Operation {
    /// What PostgreSQL gets and gives, in groups of 64, and the texts in its columns.
    static var storage: [Operation] {
        [
            .repeating("postgres.encode-append.64", count: 60) { _ in
                let group = Samples.sealed(64)
                return { keep(PostgresParameters(group)) }
            },
            .repeating("postgres.encode-readings.64", count: 500) { _ in
                let group = (0..<64).map { _ in Reading(id: NotificationID(), recipient: Samples.recipient) }
                return { keep(PostgresParameters(group)) }
            },
            .repeating("postgres.decode-rows.64", count: 150) { _ in
                let (rows, id) = (try foundRows(64), NotificationID())
                return {
                    for row in rows {
                        keep(try row.decode(0, as: Int64.self))
                        keep(try StoredNotification(id, row))
                    }
                }
            },
            Operation.repeating("storage.encode-deliveries", count: 3000) { _ in
                let deliveries = Samples.deliveries()
                return { keep(StorageCoding.encode(deliveries)) }
            },
            .repeating("storage.decode-deliveries", count: 300) { _ in
                let text = StorageCoding.encode(Samples.deliveries())
                return { keep(try StorageCoding.decodeDeliveries(text)) }
            },
        ]
    }

    /// Rows of the statement that reads for devices, as they arrive; libpq can make them without a server.
    private static func foundRows(_ count: Int) throws -> PostgresResult {
        guard let result = PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK) else { throw Unexpected("no memory") }
        let types: [PostgresType] = [.int8, .int8, .int8, .int8, .bool, .text, .bytea, .text, .int8, .int2]
        try "column".withCString { name in
            var columns = types.map { type in
                PGresAttDesc(
                    name: UnsafeMutablePointer(mutating: name), tableid: 0, columnid: 0, format: 1,
                    typid: Oid(type.rawValue), typlen: -1, atttypmod: -1)
            }
            guard PQsetResultAttrs(result, Int32(types.count), &columns) != 0 else { throw Unexpected("no columns") }
        }
        let now = Timestamp.now.milliseconds
        for row in 0..<count {
            var values: [[UInt8]?] = [bytes(Int64(row + 1))]
            values += [bytes(now), bytes(now + 86_400_000), nil, bytes(false), bytes("k2026")]
            values += [Samples.payload(1050), bytes(Samples.traceparent), nil, nil]
            for (column, value) in values.enumerated() {
                var value = value
                let length = value.map { Int32($0.count) } ?? -1
                let isSet = value?.withUnsafeMutableBytes { bytes in
                    PQsetvalue(
                        result, Int32(row), Int32(column), bytes.assumingMemoryBound(to: CChar.self).baseAddress,
                        length)
                }
                guard isSet ?? PQsetvalue(result, Int32(row), Int32(column), nil, length) != 0 else {
                    throw Unexpected("A value was not set.")
                }
            }
        }
        return PostgresResult(ResultHandle(result))
    }

    private static func bytes(_ value: some PostgresEncodable) -> [UInt8] {
        var bytes: [UInt8] = []
        value.encode(into: &bytes)
        return bytes
    }
}
