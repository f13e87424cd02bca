/// Registers a device as the tutorial's clients do: an ID by POST, platform and handle by PUT, and once more from the
/// start when the hub has given up the ID (410).
struct DeviceRegistration: Sendable {
    var platform: DevicePlatform
    var handle: String
    var authorization: String
    var retrieval: APIClient

    private struct Body: Encodable {
        var Platform: String
        var Handle: String
        var Tags: [String] = []
    }

    /// - Returns: the registration's ID.
    func run() async throws -> String {
        let first = try await newID()
        let answer = try await put(first)
        if answer.isSuccess { return first }
        guard answer.status == 410 else { throw ProblemDocument.failure(answer, from: retrieval.service) }
        let second = try await newID()
        let again = try await put(second)
        guard again.isSuccess else { throw ProblemDocument.failure(again, from: retrieval.service) }
        return second
    }

    private func newID() async throws -> String {
        let answer = try await retrieval.send(
            .post, "/api/register?handle=\(handle.urlEncoded)", authorization: authorization)
        guard answer.isSuccess else { throw ProblemDocument.failure(answer, from: retrieval.service) }
        guard let id = JSONText.string(answer.body), !id.isEmpty else {
            throw CommandFailure(.failed, "retrieval's answer to the registration holds no ID")
        }
        return id
    }

    private func put(_ id: String) async throws -> APIAnswer {
        let body = try JSONText.encode(Body(Platform: platform.registrationName, Handle: handle))
        return try await retrieval.send(
            .put, "/api/register/\(id.urlEncoded)", authorization: authorization, json: body)
    }
}
