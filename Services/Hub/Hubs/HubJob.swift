import Foundation
import Foundations
import HTTPTypes
import Hummingbird

/// A bulk job of a hub (`NotificationHubJob`): registrations exported to a blob container, or imported from a file.
///
/// The emulator accepts and lists jobs as the service does. It never connects to a blob container, so each job fails.
struct HubJob: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case exportRegistrations = "ExportRegistrations"
        case importCreateRegistrations = "ImportCreateRegistrations"
        case importUpdateRegistrations = "ImportUpdateRegistrations"
        case importDeleteRegistrations = "ImportDeleteRegistrations"
        case importUpsertRegistrations = "ImportUpsertRegistrations"
    }

    private static let elementName = "NotificationHubJob"
    /// The reason why each job fails.
    static let failure =
        "The hub emulator does not connect to blob storage: no registration was exported or imported."

    let id: String
    let kind: Kind
    let outputContainerURI: String
    let importFileURI: String?
    /// As received.
    let inputProperties: XMLElement?
    let createdAt: Timestamp

    /// Reads the Atom entry of a POST.
    ///
    /// - Throws: 400 with the reason.
    init(entry bytes: [UInt8], at time: Timestamp = .now) throws(HubError) {
        guard let job = try AtomEntry.content(of: bytes)?.child(Self.elementName) else {
            throw HubError.badRequest("The body is not an Atom entry with a NotificationHubJob.")
        }
        let given = { (name: String) in
            job.child(name).flatMap { $0.isNil ? nil : $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
                .flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let kind = given("Type").flatMap(Kind.init(rawValue:)) else {
            throw HubError.badRequest("The Type of the job is missing or unknown.")
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
    private static func makeID(at time: Timestamp) -> String {
        // .NET ticks: 100 ns since the year 1; the last one is at the end of 9999.
        let last = 3_155_378_975_999_999_999
        let unixEpoch = 621_355_968_000_000_000
        let milliseconds = Int(
            min(max(time, Timestamp.supported.lowerBound), Timestamp.supported.upperBound).milliseconds)
        return "\(last - unixEpoch - milliseconds * 10_000)\(UUID().uuidString.lowercased())"
    }

    /// The job in a response, with elements in the order in which the .NET client reads them.
    ///
    /// - Parameter isNew: whether it is the response to the POST: the job has no `Status` then, as recorded.
    func entry(url: String, isNew: Bool) -> AtomEntry {
        var content = "<JobId>\(id)</JobId><Type>\(kind.rawValue)</Type>"
        if !isNew { content += "<Status>Failed</Status>" }
        content += "<OutputContainerUri>\(XMLWriter.escape(outputContainerURI))</OutputContainerUri>"
        if let file = importFileURI { content += "<ImportFileUri>\(XMLWriter.escape(file))</ImportFileUri>" }
        if let properties = inputProperties {
            XMLWriter.write(properties, parentNamespace: XMLNamespace.connect, to: &content)
        }
        if !isNew { content += "<Failure>\(XMLWriter.escape(Self.failure))</Failure>" }
        content += "<CreatedAt>\(createdAt.description)</CreatedAt><UpdatedAt>\(createdAt.description)</UpdatedAt>"
        return AtomEntry(
            url: url, title: id, publishedAt: createdAt, updatedAt: createdAt, element: Self.elementName,
            content: content)
    }
}

/// `/{hub}/jobs`: bulk export and import of registrations, accepted and listed as by the service.
struct HubJobController: Sendable {
    let state: EmulatorState

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("jobs", use: submit)
        hub.get("jobs", use: list)
        hub.get("jobs/:id", use: read)
    }

    /// Recorded: 201, `Location`, and the job without a `Status`.
    @Sendable func submit(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .manage)
        let job = try HubJob(entry: try await request.bytes())
        try await state.injectFaults(.hub, context)
        try state.hubs.withHub(call.hubKey) { hub throws(HubError) in hub.add(job) }
        let url = call.location("jobs/\(job.id)")
        return .hub(
            job.entry(url: url, isNew: true).text, status: .created, type: AtomEntry.contentType,
            headers: [.location: url])
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .manage)
        try await state.injectFaults(.hub, context)
        let jobs = try state.hubs.withHub(call.hubKey) { hub throws(HubError) in Array(hub.jobs) }
        let entries = jobs.map { $0.entry(url: call.location("jobs/\($0.id)"), isNew: false) }
        return .hub(
            AtomEntry.feed("jobs", url: call.requestLocation("jobs"), entries), type: AtomEntry.feedContentType)
    }

    /// Recorded: the URLs of a job that is read contain its ID twice.
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try state.gate.admit(request, context, right: .manage)
        try await state.injectFaults(.hub, context)
        let id = context.parameter("id").lowercased()
        let job = try state.hubs.withHub(call.hubKey) { hub throws(HubError) in hub.jobs.first { $0.id == id } }
        guard let job else { throw HubError(.notFound, detail: "The job is not known.") }
        let url = call.location("jobs/\(job.id)/\(job.id)")
        return .hub(
            job.entry(url: url, isNew: false).text, type: AtomEntry.contentType, headers: [.contentLocation: url])
    }
}
