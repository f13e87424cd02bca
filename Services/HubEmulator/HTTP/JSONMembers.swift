import Foundation
import NIOCore
import SecurePushCore
import ServiceRuntime

/// The members of a JSON object in a request to the emulator's own API: names in any case, values simple, everything
/// that is wrong collected.
struct JSONMembers {
    enum Value: Decodable, Equatable {
        case string(String), number(Double), boolean(Bool), null

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let boolean = try? container.decode(Bool.self) {
                self = .boolean(boolean)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .string(try container.decode(String.self))
            }
        }
    }

    private var values: [String: Value] = [:]
    private var errors: [Problem.Member] = []
    private var known: Set<String> = []

    /// - Throws: 400 when the body is no JSON object of simple values.
    init(_ body: ByteBuffer) throws(Problem) {
        guard let object = try? JSONDecoder().decode([String: Value].self, from: Data(body.readableBytesView)) else {
            throw Problem.badRequest("The body must be a JSON object of strings, numbers and booleans.")
        }
        for (name, value) in object {
            if values.updateValue(value, forKey: name.lowercased()) != nil {
                errors.append(Problem.Member(pointer: "/\(name)", detail: "is there twice"))
            }
        }
    }

    mutating func string(_ name: String) -> String? {
        switch take(name) {
        case .string(let text): return text
        case .none, .null: return nil
        default: return refuse(name, "must be a string")
        }
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let number = number(name, in: Double(range.lowerBound)...Double(range.upperBound)) else { return nil }
        return Int(exactly: number) ?? refuse(name, "must be a whole number")
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
        switch take(name) {
        case .number(let number) where range.contains(number): return number
        case .none, .null: return nil
        default: return refuse(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    mutating func boolean(_ name: String) -> Bool? {
        switch take(name) {
        case .boolean(let boolean): return boolean
        case .none, .null: return nil
        default: return refuse(name, "must be true or false")
        }
    }

    /// One of an enumeration's raw values, in any case.
    mutating func choice<Choice: RawRepresentable<String>>(_ name: String, _ type: Choice.Type) -> Choice? {
        guard let text = string(name) else { return nil }
        return Choice(rawValue: text.lowercased()) ?? refuse(name, "is not known")
    }

    @discardableResult
    mutating func refuse<Result>(_ name: String, _ detail: String) -> Result? {
        errors.append(Problem.Member(pointer: "/\(name)", detail: detail))
        return nil
    }

    /// - Throws: 422 with everything that is wrong, unknown members included.
    func finish() throws(Problem) {
        let unknown = values.keys.filter { !known.contains($0) }.sorted()
        let all = errors + unknown.map { Problem.Member(pointer: "/\($0)", detail: "is not known") }
        guard all.isEmpty else { throw Problem.unprocessable(errors: all) }
    }

    private mutating func take(_ name: String) -> Value? {
        known.insert(name.lowercased())
        return values[name.lowercased()]
    }
}
