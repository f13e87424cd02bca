import Foundation
import NIOCore
import SecurePushCore
import ServiceRuntime

/// A scenario file: a JSON list of faults, each with the offsets `At` and `For` from the emulator's start.
///
/// A chaos run is such a file and a seed: the same file gives the same faults at the same times.
struct FaultScenario: Sendable {
    let faults: [Fault]

    /// What is wrong with a file, in a sentence.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private static let maximumBytes = 1024 * 1024
    private static let maximumFaults = 100

    /// - Throws: ``Refusal`` that names the entry and all its mistakes.
    init(contentsOf path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Refusal(description: "the file cannot be read")
        }
        try self.init(data)
    }

    init(_ data: Data) throws {
        guard data.count <= Self.maximumBytes, let entries = try? JSONSerialization.jsonObject(with: data) as? [Any]
        else { throw Refusal(description: "it is no JSON list of faults") }
        guard entries.count <= Self.maximumFaults else {
            throw Refusal(description: "it has more than \(Self.maximumFaults) faults")
        }
        faults = try entries.enumerated().map { index, entry in
            guard let object = entry as? [String: Any], let bytes = try? JSONSerialization.data(withJSONObject: object)
            else { throw Refusal(description: "fault \(index + 1) is no JSON object") }
            do {
                return try Fault(ByteBuffer(bytes: bytes))
            } catch let error as Problem {
                throw Refusal(description: "fault \(index + 1): \(Self.words(of: error))")
            }
        }
    }

    private static func words(of problem: Problem) -> String {
        let members = problem.errors.map { "\($0.pointer.dropFirst()) \($0.detail)" }
        return members.isEmpty ? problem.detail ?? "cannot be read" : members.joined(separator: "; ")
    }
}
