import Domain
import Foundations
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

@testable import ServiceRuntime

/// Answers that are held back after wrong passwords.
@Suite struct HeldAnswerTests {
    /// Finding 5 of the second security review: each had one of the operator's 32 permits for up to 5 s.
    @Test(.timeLimit(.minutes(5)), arguments: [HTTPRequest.Method.get, .post])
    func `A held answer is not in flight`(method: HTTPRequest.Method) async throws {
        let context = ServiceContext.test()
        let begun = Mailbox<Int>()
        try await withApplication(
            context: context,
            routes: { router in
                router.on("/held", method: method) { _, _ -> Response in
                    begun.put(CollectionOfOne(1))
                    throw AuthenticationError(.invalid, "Wrong.", challenges: ["Basic"], delay: .seconds(600))
                }
                router.get("/free") { _, _ in Response(status: .ok) }
            },
            { client in
                context.requests.setLimit(1)
                try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                    for number in 1...8 {
                        // One after the other: each is in flight until it is refused.
                        group.addTask { try await client.execute(uri: "/held", method: method).status }
                        try await expectEventually { begun.count == number && context.requests.current == 0 }
                    }
                    #expect(try await client.execute(uri: "/free", method: .get).status == .ok)
                    // A client that goes away is not waited for.
                    group.cancelAll()
                    for try await status in group { #expect(status == .unauthorized) }
                }
            })
    }
}
