import APITestSupport
import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import Retrieval

@Suite("Display and ExpiresAt", .bothWays)
struct DisplayTests {
    @Test(arguments: Display.allCases)
    func `A fetch tells both, and HEAD has the same length`(_ display: Display) async throws {
        try await withRetrieval { bench in
            let expiresAt = Timestamp.now + .seconds(600)
            let id = try await bench.accept("1", expiresAt: expiresAt, display: display)
            let head = try await bench.request(.head, "/api/notifications/\(id)", by: try bench.token())
            let answer = try await bench.get(id)
            let member = display == .full ? "" : #","Display":"\#(display.rawValue)""#
            #expect(
                answer.text == #"{"Id":"\#(id)","ExpiresAt":"\#(expiresAt)"\#(member),"Payload":1,"Read":false}"#)
            #expect(head.headers[.contentLength] == "\(answer.body.readableBytes)")
        }
    }

    @Test func `A list without payloads has neither`() async throws {
        try await withRetrieval { bench in
            _ = try await bench.accept("1", display: .app)
            let list = try await bench.request(.get, "/api/notifications", by: try bench.token())
            #expect(!list.text.contains("ExpiresAt") && !list.text.contains("Display"))
        }
    }
}
