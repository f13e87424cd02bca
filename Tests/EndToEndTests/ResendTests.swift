import Domain
import Foundation
import Foundations
import NIOHTTP1
import StackKit
import TestSupport
import Testing

/// A refusal by the hub that an operator has put right, against the emulator.
@Suite("Resending", .serialized, .broker, .timeLimit(.minutes(5)))
struct ResendTests {
    @Test(arguments: TestDatabase.allCases)
    func `What the hub refused is sent once it takes it`(_ database: TestDatabase) async throws {
        try await withStack(database) { stack in
            let key = Data("0123456789abcdef0123456789abcdef".utf8).base64EncodedString()
            let line = { (port: Int) in
                "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=DefaultFullSharedAccessSignature;"
                    + "SharedAccessKey=\(key)"
            }
            let emulator = try await stack.start("hub-emulator", ["EMULATOR_CONNECTION_STRING": line(1)])
            let hub = line(emulator.port)
            let ingest = try await stack.start("ingest", ["HUB_PLATFORMS": "apple"])
            let dispatcher = try await stack.start(
                "dispatcher", ["HUB_PLATFORMS": "apple", "HUB_CONNECTION_STRING": hub, "HUB_NAME": "securepush"])
            try await expectReady(ingest, dispatcher)
            let fault = #"{"Platform":"apple","Status":413}"#
            #expect(try await emulator.request(.POST, "/emulator/faults", body: fault).status == 201)

            let id = try await ingest.post("1", to: "alice", stack)
            let status = { (name: String) in
                try await eventually {
                    let answer = try await ingest.request(
                        .GET, "/api/notifications/\(id)/status", bearer: stack.apiKey)
                    return answer.body.contains(#""Status":"\#(name)""#)
                }
            }
            #expect(try await status("failed"))
            #expect(try await emulator.request(.DELETE, "/emulator/faults").status == 200)
            let path = "/api/notifications/\(id)/resend"
            let resent = try await ingest.request(.POST, path, bearer: stack.apiKey)
            #expect(resent.status == 202 && resent.body == #"{"Id":"\#(id)","Platforms":["apple"]}"#)
            #expect(try await status("dispatched"))
            let again = try await ingest.request(.POST, path, bearer: stack.apiKey)
            #expect(again.status == 409)
        }
    }
}
