import NIOCore
import SecurePushCore
import ServiceRuntime

/// The body of `PUT /api/register/{id}`: `{"Platform","Handle","Tags"}`, read and checked.
struct RegistrationRequest: Sendable {
    var platform = RegistrationPlatform.apns
    var handle = ""
    var tags: [String] = []

    static let maxBody = 64 * 1024

    /// - Throws: ``Problem``: 400 for what is not JSON, 422 naming every offending member.
    init(_ body: ByteBuffer) throws {
        self = try body.readJSON { RegistrationRequest(&$0) }
    }

    private init(_ reader: inout JSONObjectReader) {
        let members = reader.members(
            of: reader.root, known: ["Platform", "Handle", "Tags"], required: ["Platform", "Handle"])
        var tags = ClientTagReader()
        for member in members {
            switch member.name {
            case "Tags": self.tags = tags.read(member, &reader)
            case "Platform":
                guard let text = reader.string(member.value, at: member.pointer) else { continue }
                if let platform = RegistrationPlatform(rawValue: text) {
                    self.platform = platform
                } else {
                    let names = RegistrationPlatform.allCases.map(\.rawValue).joined(separator: ", ")
                    reader.note(member.pointer, "The platform must be one of: \(names).")
                }
            default:
                guard let handle = reader.string(member.value, at: member.pointer) else { continue }
                self.handle = handle
                if let issue = DeviceHandle.issue(handle) { reader.note(member.pointer, issue) }
            }
        }
    }
}
