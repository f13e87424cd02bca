import CRabbitMQ

/// Memory for the strings and tables that one call of librabbitmq gets, valid until ``reset()``.
///
/// The first chunk is kept, so that publishing a message allocates nothing.
final class Arena {
    private var chunks: [(start: UnsafeMutableRawPointer, size: Int)] = []
    private var used = 0

    deinit { for chunk in chunks { chunk.start.deallocate() } }

    func reset() {
        while chunks.count > 1 { chunks.removeLast().start.deallocate() }
        used = 0
    }

    private func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let count = (count + 15) & ~15
        if let chunk = chunks.last, chunk.size - used >= count {
            defer { used += count }
            return chunk.start + used
        }
        let size = max(count, 16_384)
        let start = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        chunks.append((start, size))
        used = count
        return start
    }

    func bytes(_ text: String) -> amqp_bytes_t {
        var text = text
        return text.withUTF8 { utf8 in
            guard let source = utf8.baseAddress, utf8.count > 0 else { return amqp_empty_bytes }
            let copy = allocate(utf8.count)
            copy.copyMemory(from: source, byteCount: utf8.count)
            return amqp_bytes_t(len: utf8.count, bytes: copy)
        }
    }

    func table(_ table: AMQPTable) -> amqp_table_t {
        guard !table.isEmpty else { return amqp_empty_table }
        let count = table.entries.count
        let entries = allocate(count * MemoryLayout<amqp_table_entry_t>.stride)
            .bindMemory(to: amqp_table_entry_t.self, capacity: count)
        for (index, entry) in table.entries.enumerated() {
            let value = amqp_table_entry_t(key: bytes(entry.key), value: field(entry.value))
            entries.advanced(by: index).initialize(to: value)
        }
        return amqp_table_t(num_entries: Int32(count), entries: entries)
    }

    private func array(_ values: [AMQPValue]) -> amqp_array_t {
        guard !values.isEmpty else { return amqp_empty_array }
        let entries = allocate(values.count * MemoryLayout<amqp_field_value_t>.stride)
            .bindMemory(to: amqp_field_value_t.self, capacity: values.count)
        for (index, value) in values.enumerated() { entries.advanced(by: index).initialize(to: field(value)) }
        return amqp_array_t(num_entries: Int32(values.count), entries: entries)
    }

    private func field(_ value: AMQPValue) -> amqp_field_value_t {
        var field = amqp_field_value_t()
        switch value {
        case .string(let text): (field.kind, field.value.bytes) = (kind("S"), bytes(text))
        case .integer(let number): (field.kind, field.value.i64) = (kind("l"), number)
        case .boolean(let flag): (field.kind, field.value.boolean) = (kind("t"), flag ? 1 : 0)
        case .double(let number): (field.kind, field.value.f64) = (kind("d"), number)
        case .table(let nested): (field.kind, field.value.table) = (kind("F"), table(nested))
        case .array(let values): (field.kind, field.value.array) = (kind("A"), array(values))
        case .void: field.kind = kind("V")
        }
        return field
    }

    private func kind(_ character: Unicode.Scalar) -> UInt8 { UInt8(ascii: character) }
}

extension String {
    /// Text from the broker; invalid UTF-8 is replaced.
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
    /// How deep tables may nest; deeper ones are read as void.
    private static let maxDepth = 8

    init(_ table: amqp_table_t, depth: Int = 0) {
        let entries = UnsafeBufferPointer(start: table.entries, count: Int(max(0, table.num_entries)))
        self.init(entries.map { Entry(String($0.key), AMQPTable.value($0.value, depth: depth)) })
    }

    private static func value(_ field: amqp_field_value_t, depth: Int) -> AMQPValue {
        guard depth < maxDepth else { return .void }
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
