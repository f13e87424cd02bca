import APITestSupport
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Ingest

@Suite("Recipients times payload")
struct RequestVolumeTests {
    private static func body(_ recipients: Int, of bytes: Int) -> String {
        let names = (0..<recipients).map { #""u\#($0)""# }.joined(separator: ",")
        return #"{"Recipients":[\#(names)],"Payload":"\#(String(repeating: "x", count: bytes))"}"#
    }

    @Test func `Eight mebibytes fit and a byte more is 413`() async throws {
        try await withIngest { bench in
            #expect(try await bench.post(Self.body(32, of: 256 * 1024)).status == .created)
            #expect(try await bench.post(Self.body(1000, of: 8388)).status == .created)
            let stored = try await bench.count
            #expect(stored == 1032)
            for (recipients, bytes) in [(33, 256 * 1024), (1000, 8389), (1000, 256 * 1024)] {
                let answer = try await bench.post(Self.body(recipients, of: bytes))
                try answer.expectProblem(413)
                #expect(try answer.pointers() == ["/Payload", "/Recipients"])
            }
            #expect(try await bench.count == stored)
        }
    }

    @Test func `A line of a batch has the same limit`() async throws {
        try await withIngest { bench in
            let good = #"{"Recipient":"alice","Payload":1}"#
            let answer = try await bench.batch([good, Self.body(33, of: 256 * 1024), good])
            #expect(try answer.results().map { $0["status"] as? Int } == [nil, 413, nil])
            #expect(try await bench.count == 2)
        }
    }
}
