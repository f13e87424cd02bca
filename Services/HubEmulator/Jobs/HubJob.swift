import Foundation

/// A bulk job of a hub (`NotificationHubJob`): registrations exported to a blob container, or imported from a file.
///
/// The emulator takes and lists jobs as the service does. It never reaches a blob container, so each job ends as
/// failed.
struct HubJob: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case exportRegistrations = "ExportRegistrations"
        case importCreateRegistrations = "ImportCreateRegistrations"
        case importUpdateRegistrations = "ImportUpdateRegistrations"
        case importDeleteRegistrations = "ImportDeleteRegistrations"
        case importUpsertRegistrations = "ImportUpsertRegistrations"
    }

    static let elementName = "NotificationHubJob"
    /// Why every job fails here.
    static let failure = "The hub emulator does not reach blob storage: no registration was exported or imported."

    let id: String
    let kind: Kind
    let outputContainerURI: String
    let importFileURI: String?
    /// The element as it came.
    let inputProperties: XMLElement?
    let createdAt: WireTime

    /// Reads the Atom entry of a POST.
    ///
    /// - Throws: 400 that says what is wrong.
    init(entry bytes: [UInt8], at time: WireTime = .now) throws(HubError) {
        let root: XMLElement
        do {
            root = try XMLReader.read(bytes)
        } catch {
            throw HubError.badRequest(error.description)
        }
        guard root.name == "entry", root.namespace == XMLNamespace.atom,
            let job = root.child("content")?.child(Self.elementName)
        else { throw HubError.badRequest("The body is not an Atom entry with a NotificationHubJob.") }
        let given = { (name: String) in
            job.child(name).flatMap { $0.isNil ? nil : $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
                .flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let kind = given("Type").flatMap(Kind.init(rawValue:)) else {
            throw HubError.badRequest("The Type of the job is missing or not known.")
        }
        guard let output = given("OutputContainerUri") else {
            throw HubError.badRequest("The job has no OutputContainerUri.")
        }
        importFileURI = given("ImportFileUri")
        guard kind == .exportRegistrations || importFileURI != nil else {
            throw HubError.badRequest("An import job needs an ImportFileUri.")
        }
        self.kind = kind
        outputContainerURI = output
        inputProperties = job.child("InputProperties").flatMap { $0.isNil ? nil : $0 }
        createdAt = time
        id = Self.makeID(at: time)
    }

    /// Recorded: 19 digits that count down, so that the newest job sorts first, and a UUID.
    private static func makeID(at time: WireTime) -> String {
        // .NET ticks: 100 ns since the year 1; the last one is at the end of 9999.
        let last = 3_155_378_975_999_999_999
        let unixEpoch = 621_355_968_000_000_000
        let milliseconds = Int(min(max(time.milliseconds, 0), 253_402_300_799_999))
        return "\(last - unixEpoch - milliseconds * 10_000)\(UUID().uuidString.lowercased())"
    }
}
