import HTTPTypes
import Hummingbird
import NIOCore

/// `/{hub}/jobs`: bulk export and import of registrations, taken and listed as by the service.
struct HubJobController: Sendable {
    private static let maxBodySize = 64 * 1024

    let gate: HubGate
    let hubs: HubDirectory
    let faults: FaultTable

    func addRoutes(to hub: RouterGroup<EmulatorContext>) {
        hub.post("jobs", use: submit)
        hub.get("jobs", use: list)
        hub.get("jobs/:id", use: read)
    }

    /// Recorded: 201, `Location`, and the job without a `Status`.
    @Sendable func submit(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .manage)
        let job = try HubJob(
            entry: Array(try await request.body.collect(upTo: Self.maxBodySize).readableBytesView))
        try await injectFaults(context)
        try hubs.withHub(call.hubKey) { hub throws(HubError) in hub.add(job) }
        let path = "jobs/\(job.id)"
        var response = Self.answer(
            .created, AtomDocument.entryContentType,
            HubJobDocument.entry(job, path: path, isNew: true, call: call))
        response.headers[.location] = call.location(path)
        return response
    }

    @Sendable func list(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .manage)
        try await injectFaults(context)
        let jobs = try hubs.withHub(call.hubKey) { hub throws(HubError) in Array(hub.jobs) }
        return Self.answer(.ok, AtomDocument.feedContentType, HubJobDocument.feed(jobs, call: call))
    }

    /// Recorded: the URLs of a job that is read hold its ID twice.
    @Sendable func read(_ request: Request, context: EmulatorContext) async throws -> Response {
        let call = try gate.admit(request, context, right: .manage)
        try await injectFaults(context)
        let id = PercentDecoding.decode(context.parameters.get("id") ?? "").lowercased()
        let job = try hubs.withHub(call.hubKey) { hub throws(HubError) in hub.jobs.first { $0.id == id } }
        guard let job else { throw HubError(.notFound, detail: "The job is not known.") }
        let path = "jobs/\(job.id)/\(job.id)"
        var response = Self.answer(
            .ok, AtomDocument.entryContentType, HubJobDocument.entry(job, path: path, isNew: false, call: call))
        response.headers[.contentLocation] = call.location(path)
        return response
    }

    private func injectFaults(_ context: EmulatorContext) async throws {
        try await faults.inject(faults.effect(on: .hub, platform: nil), context: context)
    }

    private static func answer(_ status: HTTPResponse.Status, _ type: String, _ document: String) -> Response {
        Response(
            status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: document)))
    }
}
