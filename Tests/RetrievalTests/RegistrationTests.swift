import APITestSupport
import Domain
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("/api/register")
struct RegistrationTests {
    @Test(arguments: RegistrationPlatform.allCases)
    func `A device registers`(_ platform: RegistrationPlatform) async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID("?handle=H%2F1")
            let answer = try await bench.put(id, #"{"platform":"\#(platform)","HANDLE":"H/1","Tags":["news","a:b"]}"#)
            #expect(answer.status == .ok)
            #expect(answer.text.isEmpty)
            #expect(
                bench.hub.devices == [
                    id: .init(platform: platform, handle: "H/1", tags: ["news", "a:b", "username:alice"])
                ])
        }
    }

    @Test(arguments: [("apple", RegistrationPlatform.apns), ("windows", .wns)])
    func `The names of senders are taken`(_ name: String, _ platform: RegistrationPlatform) async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            #expect(try await bench.put(id, #"{"Platform":"\#(name)","Handle":"H"}"#).status == .ok)
            #expect(try await bench.store.registrations(handle: "H").first?.platform == platform)
        }
    }

    @Test func `Tags are kept here as the hub has them`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            #expect(try await bench.put(id, #"{"Platform":"gcm","Handle":"H","Tags":["news"]}"#).status == .ok)
            let stored = try #require(try await bench.store.registrations(handle: "H").first)
            #expect(stored.id == id && stored.platform == .gcm && stored.tags == ["news", "username:alice"])
        }
    }

    /// `+` stands for itself in a handle, and is not a blank.
    @Test(arguments: [("handle=a+b%2Fc%3D", "a+b/c="), ("HANDLE=x:y%20z", "x:y z"), ("Handle=%C3%A9", "é")])
    func `Handles are percent decoded`(_ query: String, _ handle: String) async throws {
        try await withRetrieval { bench in
            bench.hub.plant("older", .init(platform: .gcm, handle: handle, tags: []))
            _ = try await bench.newID("?" + query)
            try await bench.searchHub()
            #expect(bench.hub.devices.isEmpty)
        }
    }

    @Test(arguments: [
        ("handle=", ["/handle"]), ("handle=a&Handle=b", ["/handle"]), ("handle=a%00", ["/handle"]),
        ("handle=https://wns/?token=a&ttl=1", ["/ttl"]), ("pns=apns", ["/pns"]),
    ])
    func `Offending parameters are named`(_ query: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.request(.post, "/api/register?" + query, by: try bench.token())
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
        }
    }

    @Test func `A body of the request for an ID is not looked at`() async throws {
        try await withRetrieval { bench in
            for (body, type) in [("", nil), ("{}", "application/json"), ("x", "text/plain")] {
                let answer = try await bench.request(
                    .post, "/api/register", by: try bench.token(), body: body, contentType: type)
                #expect(answer.status == .ok)
                #expect(answer.headers[.contentType] == "application/json")
                #expect(answer.headers[.cacheControl] == "no-store")
            }
        }
    }

    @Test(arguments: ["", #","Tags":null"#, #","Tags":[]"#])
    func `Tags may be absent`(_ tags: String) async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            #expect(try await bench.put(id, #"{"Platform":"apns","Handle":"H"\#(tags)}"#).status == .ok)
            #expect(bench.hub.devices[id]?.tags == ["username:alice"])
        }
    }

    @Test(arguments: [
        (#"{}"#, ["/Handle", "/Platform"]), (#"[]"#, [""]), (#"{"Platform":"apns"}"#, ["/Handle"]),
        (#"{"Platform":"nokia","Handle":""}"#, ["/Handle", "/Platform"]),
        (#"{"Platform":"APNS","Handle":"H"}"#, ["/Platform"]),
        (#"{"Platform":7,"Handle":null}"#, ["/Handle", "/Platform"]),
        (#""text""#, [""]),
        (#"{"Platform":"apns","Handle":"H","installationId":"1","a~":1}"#, ["/a~0", "/installationId"]),
        (#"{"Platform":"apns","Handle":7,"handle":"H","Sound":1}"#, ["/Handle", "/Handle", "/Sound"]),
        (#"{"Platform":"apns","Handle":"H\u0000"}"#, ["/Handle"]),
        (#"{"Platform":"apns","Handle":"H\uFFFF"}"#, ["/Handle"]),
        (#"{"Platform":"apns","Handle":"\ufffeH"}"#, ["/Handle"]),
        (#"{"Platform":"apns","Handle":"H","Tags":"news"}"#, ["/Tags"]),
        (
            #"{"Platform":"apns","Handle":"H","Tags":["ok",7,"","a,b","a b","é","٣","a/b","a~"]}"#,
            ["/Tags/1", "/Tags/2", "/Tags/3", "/Tags/4", "/Tags/5", "/Tags/6", "/Tags/7", "/Tags/8"]
        ),
    ])
    func `Offending members are named`(_ body: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.put(try await bench.newID(), body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers)
            #expect(bench.hub.devices.isEmpty)
        }
    }

    @Test(arguments: [
        "username:bob", "USERNAME:bob", "UserName:", "username:\u{903}", "u\u{17F}ername:bob", "$InstallationId:{x}",
        "$",
    ])
    func `Reserved tags are refused`(_ tag: String) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.put(
                try await bench.newID(), #"{"Platform":"apns","Handle":"H","Tags":["\#(tag)"]}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Tags/0"])
            #expect(bench.hub.devices.isEmpty)
        }
    }

    @Test func `Sixty tags with the user's own and no more`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            let tags = { (count: Int) in (0..<count).map { #""t\#($0)""# }.joined(separator: ",") }
            #expect(try await bench.put(id, #"{"Platform":"wns","Handle":"H","Tags":[\#(tags(59))]}"#).status == .ok)
            #expect(bench.hub.devices[id]?.tags.count == 60)
            let answer = try await bench.put(id, #"{"Platform":"wns","Handle":"H","Tags":[\#(tags(60))]}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == ["/Tags"])
        }
    }

    @Test func `Deleting removes it in the hub and here`() async throws {
        try await withRetrieval { bench in
            let id = try await bench.newID()
            _ = try await bench.put(id, #"{"Platform":"apns","Handle":"H"}"#)
            let delete = { try await bench.request(.delete, "/api/register/\(id)", by: try bench.token()) }
            #expect(try await delete().status == .ok)
            #expect(bench.hub.devices.isEmpty)
            try (try await delete()).expectProblem(404)
        }
    }
}

extension RetrievalBench {
    /// A new registration ID, as `alice` gets it.
    func newID(_ query: String = "", by name: String = "alice") async throws -> String {
        let answer = try await request(.post, "/api/register" + query, by: try token(name))
        #expect(answer.status == .ok)
        let id = answer.text.dropFirst().dropLast()
        #expect(answer.text == "\"\(id)\"")
        return String(id)
    }

    func put(_ id: String, _ body: String, by name: String = "alice") async throws -> TestResponse {
        try await request(.put, "/api/register/\(id)", by: try token(name), body: body)
    }
}
