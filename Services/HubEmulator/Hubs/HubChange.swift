/// A change of what a hub holds besides plain registrations, for whoever keeps state over a restart.
struct HubChange: Sendable {
    enum Kind: String, Sendable { case hub, installation }

    let kind: Kind
    /// The hub's name in lower case.
    let hubKey: String
    /// The installation's ID; empty for the hub itself.
    let key: String
    /// What `HubDirectory.restore(_:)` takes; nil: it is gone.
    let value: [UInt8]?
}

extension InstallationBook.Entry {
    /// The installation and the IDs of its registrations, as JSON.
    var stateDocument: [UInt8] {
        let ids = registrationIDs.sorted { $0.key < $1.key }.map {
            JSONValue.Member(name: $0.key, value: .string($0.value))
        }
        let document = JSONValue.object([
            JSONValue.Member(name: "installation", value: installation.json),
            JSONValue.Member(name: "registrations", value: .object(ids)),
        ])
        return Array(document.json.utf8)
    }

    /// - Throws: 400 when the document cannot be read.
    init(id: String, stateDocument bytes: [UInt8]) throws(HubError) {
        guard let document = JSONValue(text: String(decoding: bytes, as: UTF8.self)),
            let installation = document["installation"]
        else { throw HubError.badRequest("The stored installation cannot be read.") }
        self.installation = try HubInstallation(id: id, document: Array(installation.json.utf8))
        var ids: [String: String] = [:]
        for member in document["registrations"]?.members ?? [] { ids[member.name] = member.value.text }
        registrationIDs = ids
    }
}

extension HubSummary {
    /// The name and the description, as an Atom entry.
    var stateDocument: [UInt8] {
        var output = ""
        HubDocument.write(self, url: "", namespace: "", to: &output)
        return Array(output.utf8)
    }
}
