import CRabbitMQ

extension String {
    /// Text of the broker; what is no UTF-8 in it is replaced.
    init(_ bytes: amqp_bytes_t) {
        self.init(decoding: UnsafeRawBufferPointer(bytes), as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    init(_ bytes: amqp_bytes_t) {
        self.init(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len)
    }
}

extension AMQPTable {
    /// How deep tables may nest; deeper ones, which nobody sends, are read as void.
    private static let maximumDepth = 8

    init(_ table: amqp_table_t, depth: Int = 0) {
        let entries = UnsafeBufferPointer(start: table.entries, count: Int(max(0, table.num_entries)))
        self.init(entries.map { Entry(String($0.key), AMQPTable.value($0.value, depth: depth)) })
    }

    private static func value(_ field: amqp_field_value_t, depth: Int) -> AMQPValue {
        guard depth < maximumDepth else { return .void }
        switch Unicode.Scalar(field.kind) {
        case "S", "x": return .string(String(field.value.bytes))
        case "t": return .boolean(field.value.boolean != 0)
        case "b": return .integer(Int64(field.value.i8))
        case "B": return .integer(Int64(field.value.u8))
        case "s": return .integer(Int64(field.value.i16))
        case "u": return .integer(Int64(field.value.u16))
        case "I": return .integer(Int64(field.value.i32))
        case "i": return .integer(Int64(field.value.u32))
        case "l": return .integer(field.value.i64)
        case "L", "T": return .integer(Int64(clamping: field.value.u64))
        case "f": return .double(Double(field.value.f32))
        case "d": return .double(field.value.f64)
        case "F": return .table(AMQPTable(field.value.table, depth: depth + 1))
        case "A":
            let array = field.value.array
            let values = UnsafeBufferPointer(start: array.entries, count: Int(max(0, array.num_entries)))
            return .array(values.map { value($0, depth: depth + 1) })
        default: return .void
        }
    }
}
