import APITestSupport
import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Retrieval

@Suite("/api/installations/{id}")
struct InstallationTests {
    @Test func `The hub gets its own form with the user's tag`() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.install(
                "device-1",
                #"""
                {"installationId":"device-1","PLATFORM":"FcmV1","pushChannel":"h\/1:é","tags":["news"],
                 "userId":"bob","expiredPushChannel":false,"pushChannelExpired":false,"lastUpdate":"x",
                 "lastActiveOn":null,"expirationTime":"9999-12-31T23:59:59.9999999Z","pushVariables":{"a":"b"},
                 "templates":{"greeting":{"body":"{\"x\":\"$(y)\"}","headers":{"apns-priority":"5"},"tags":["t"],
                                          "expiry":"2030-01-01"}},
                 "secondaryTiles":{"tile":{"pushChannel":"H2","tags":["s"],"templates":{"u":{"body":"B"}}}}}
                """#)
            #expect(answer.status == .ok)
            #expect(answer.text.isEmpty)
            let document =
                #"{"installationId":"device-1","userId":"alice","platform":"fcmv1","pushChannel":"h/1:é","#
                + #""tags":["news","username:alice"],"templates":{"greeting":{"body":"{\"x\":\"$(y)\"}","#
                + #""headers":{"apns-priority":"5"},"tags":["t"],"expiry":"2030-01-01"}},"#
                + #""secondaryTiles":{"tile":{"pushChannel":"H2","tags":["s"],"templates":{"u":{"body":"B"}}}},"#
                + #""expirationTime":"9999-12-31T23:59:59.9999999Z","pushVariables":{"a":"b"}}"#
            #expect(bench.hub.installations["device-1"]?.document == document)
            let kept = try await bench.request(.get, "/api/installations/device-1", by: try bench.token())
            #expect(kept.status == .ok)
            #expect(kept.text == document)
            #expect(kept.headers[.contentType] == "application/json")
            #expect(kept.headers[.cacheControl] == "no-store")
            let stored = try #require(try await bench.store.installation("device-1"))
            #expect(stored.platform == .fcmv1 && stored.handle == "h/1:é" && stored.owner.text == "alice")
        }
    }

    @Test(arguments: [
        ("apns", "apple"), ("wns", "windows"), ("gcm", "gcm"), ("fcmv1", "fcmv1"), ("APNS", "apple"), ("adm", "adm"),
        ("mpns", "windowsphone"), ("xiaomi", "xiaomi"),
    ])
    func `Every platform of the hub is taken in any case`(_ platform: String, _ format: String) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.install("1", #"{"platform":"\#(platform)","pushChannel":"H"}"#)
            #expect(answer.status == .ok, "\(answer.text)")
            #expect(try await bench.store.installation("1")?.platform.rawValue == format)
            let document = try #require(bench.hub.installations["1"]?.document)
            #expect(document.contains(#""platform":"\#(platform.lowercased())""#))
        }
    }

    @Test(arguments: [("apple", "apns"), ("Windows", "wns")])
    func `The names of senders are taken, and the hub gets its own`(_ name: String, _ own: String) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.install("1", #"{"platform":"\#(name)","pushChannel":"H"}"#)
            #expect(answer.status == .ok, "\(answer.text)")
            #expect(try await bench.store.installation("1")?.platform.rawValue == name.lowercased())
            let document = try #require(bench.hub.installations["1"]?.document)
            #expect(document.contains(#""platform":"\#(own)""#))
        }
    }

    @Test func `A browser's channel is an object`() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.install(
                "1", #"{"pushChannel":{"Endpoint":"https://p/1","p256dh":"K","auth":"A"},"platform":"browser"}"#)
            #expect(answer.status == .ok, "\(answer.text)")
            let document = try #require(bench.hub.installations["1"]?.document)
            #expect(document.contains(#""pushChannel":{"endpoint":"https://p/1","p256dh":"K","auth":"A"}"#))
            #expect(try await bench.store.installations(handle: "https://p/1").map(\.id) == ["1"])
        }
    }

    @Test func `The user ID is the encoded name`() async throws {
        try await withRetrieval { bench in
            let answer = try await bench.install(
                "1", #"{"platform":"apns","pushChannel":"H","userId":{"any":["thing"]},"tags":null}"#, by: "Ré né")
            #expect(answer.status == .ok, "\(answer.text)")
            let document = try #require(bench.hub.installations["1"]?.document)
            #expect(document.contains(##""userId":"#52#c3#a9#20n#c3#a9""##))
            #expect(document.contains(##""tags":["username:#52#c3#a9#20n#c3#a9"]"##))
        }
    }

    @Test(
        arguments: [
            (#"{}"#, ["/platform", "/pushChannel"]), (#"[]"#, [""]), (#"{"platform":"apns"}"#, ["/pushChannel"]),
            (#"{"platform":"nokia","pushChannel":"H"}"#, ["/platform"]),
            (#"{"platform":"baidu","pushChannel":"H"}"#, ["/platform"]),
            (#"{"platform":7,"pushChannel":null}"#, ["/platform", "/pushChannel"]),
            (#"{"platform":"apns","pushChannel":""}"#, ["/pushChannel"]),
            (#"{"platform":"apns","pushChannel":{"endpoint":"e"}}"#, ["/pushChannel"]),
            (#"{"platform":"apns","pushChannel":"H\u0007"}"#, ["/pushChannel"]),
            (#"{"platform":"apns","pushChannel":"H\uFFFF"}"#, ["/pushChannel"]),
            (
                #"{"platform":"apns","pushChannel":"H","expirationTime":"2030-01-01T00:00:00-23:59"}"#,
                ["/expirationTime"]
            ),
            (
                #"{"platform":"apns","pushChannel":"H","expirationTime":"2030-01-01T00:00:00+14:01"}"#,
                ["/expirationTime"]
            ),
            (
                #"{"platform":"apns","pushChannel":"H","expirationTime":"9999-12-31T23:00:00-02:00"}"#,
                ["/expirationTime"]
            ),
            (#"{"platform":"apns","pushChannel":"H","installationId":".."}"#, ["/installationId"]),
            (
                #"{"platform":"apns","pushChannel":"H","pushVariables":{"v":"\uFFFE","w":"\t\r\n\u007f"}}"#,
                ["/pushVariables/v"]
            ),
            (
                #"{"platform":"apns","pushChannel":"H","templates":{"t":{"body":"\u0001","expiry":"\u0000"}}}"#,
                ["/templates/t/body", "/templates/t/expiry"]
            ),
            (#"{"platform":"apns","pushChannel":"H","installationId":"a@b"}"#, ["/installationId"]),
            (#"{"platform":"apns","pushChannel":"H","tags":["é","a b","~"]}"#, ["/tags/0", "/tags/1", "/tags/2"]),
            (
                #"{"platform":"apns","pushChannel":"H","templates":{"t":{"body":"B","tags":["é"]}}}"#,
                ["/templates/t/tags/0"]
            ),
            (
                #"{"platform":"wns","pushChannel":"H","secondaryTiles":{"s":{"pushChannel":"C","tags":["a/b"]}}}"#,
                ["/secondaryTiles/s/tags/0"]
            ),
            (#"{"platform":"apns","pushChannel":"H","PushChannel":"I"}"#, ["/pushChannel"]),
            (#"{"platform":"apns","pushChannel":"H","Handle":"H","a/b":1}"#, ["/Handle", "/a~1b"]),
            (#"{"platform":"apns","pushChannel":"H","installationId":"2"}"#, ["/installationId"]),
            (#"{"platform":"apns","pushChannel":"H","installationId":1}"#, ["/installationId"]),
            (#"{"platform":"browser","pushChannel":"H"}"#, ["/pushChannel"]),
            (
                #"{"platform":"browser","pushChannel":{"endpoint":1,"auth":"A","Auth":"B","key":"K"}}"#,
                ["/pushChannel/auth", "/pushChannel/endpoint", "/pushChannel/key", "/pushChannel/p256dh"]
            ),
            (#"{"platform":"apns","pushChannel":"H","tags":"news"}"#, ["/tags"]),
            (#"{"platform":"apns","pushChannel":"H","tags":["ok",7,"","a,b"]}"#, ["/tags/1", "/tags/2", "/tags/3"]),
            (#"{"platform":"apns","pushChannel":"H","expirationTime":7}"#, ["/expirationTime"]),
            (
                #"{"platform":"apns","pushChannel":"H","pushVariables":{"a":1,"a":"b"}}"#,
                [
                    "/pushVariables/a", "/pushVariables/a",
                ]
            ),
            (
                #"{"platform":"apns","pushChannel":"H","templates":{"t":{"tags":{},"headers":[],"expiry":1,"x":1}}}"#,
                [
                    "/templates/t/body", "/templates/t/expiry", "/templates/t/headers", "/templates/t/tags",
                    "/templates/t/x",
                ]
            ),
            (
                #"{"platform":"apns","pushChannel":"H","templates":{"a/b":7,"t":{"body":"B"},"t":{}}}"#,
                [
                    "/templates/a~1b", "/templates/t",
                ]
            ),
            (
                #"{"platform":"wns","pushChannel":"H","secondaryTiles":{"s":{"templates":{"t":{"body":7}}},"u":[]}}"#,
                ["/secondaryTiles/s/pushChannel", "/secondaryTiles/s/templates/t/body", "/secondaryTiles/u"]
            ),
        ] as [(String, [String])])
    func `Offending members are named`(_ body: String, _ pointers: [String]) async throws {
        try await withRetrieval { bench in
            let answer = try await bench.install("1", body)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == pointers, "\(answer.text)")
            #expect(bench.hub.installations.isEmpty)
            #expect(try await bench.store.installation("1") == nil)
        }
    }

    private static let reserved = [
        "username:bob", "USERNAME:bob", "UserName:", "username:\u{903}", "u\u{17F}ername:bob", "$UserId:{bob}", "$",
    ]

    @Test(
        arguments: [
            (#""tags":["ok","%"]"#, "/tags/1"), (#""TAGS":["%"]"#, "/tags/0"),
            (#""templates":{"t":{"body":"B","tags":["%"]}}"#, "/templates/t/tags/0"),
            (#""secondaryTiles":{"s":{"pushChannel":"C","tags":["%"]}}"#, "/secondaryTiles/s/tags/0"),
            (
                #""secondaryTiles":{"s":{"pushChannel":"C","templates":{"t":{"body":"B","tags":["%"]}}}}"#,
                "/secondaryTiles/s/templates/t/tags/0"
            ),
        ] as [(String, String)], InstallationTests.reserved)
    func `Reserved tags are refused everywhere`(_ place: (String, String), _ tag: String) async throws {
        try await withRetrieval { bench in
            let member = place.0.split(separator: "%").joined(separator: tag)
            let answer = try await bench.install("1", #"{"platform":"wns","pushChannel":"H",\#(member)}"#)
            try answer.expectProblem(422)
            #expect(try answer.pointers() == [place.1])
            #expect(bench.hub.installations.isEmpty)
        }
    }

    @Test func `Sixty tags in all with the user's own and no more`() async throws {
        let body = { @Sendable (top: Int, template: Int) in
            let tags = { (count: Int) in (0..<count).map { #""t\#($0)""# }.joined(separator: ",") }
            return #"{"platform":"wns","pushChannel":"H","tags":[\#(tags(top))],"#
                + #""templates":{"t":{"body":"B","tags":[\#(tags(template))]}}}"#
        }
        try await withRetrieval { bench in
            #expect(try await bench.install("1", body(59, 0)).status == .ok)
            #expect(try await bench.install("1", body(29, 30)).status == .ok)
            for (top, template, pointer) in [(60, 0, "/tags"), (30, 30, "/templates/t/tags"), (61, 61, "/tags")] {
                let answer = try await bench.install("1", body(top, template))
                try answer.expectProblem(422)
                #expect(try answer.pointers() == [pointer])
            }
        }
    }

    @Test(arguments: [nil, "text/plain", "application/xml", "application/json; charset=latin1"])
    func `What is not said to be JSON is 415`(_ type: String?) async throws {
        try await withRetrieval { bench in
            let registration = try await bench.newID()
            for path in ["/api/installations/1", "/api/register/\(registration)"] {
                let answer = try await bench.request(.put, path, by: try bench.token(), body: "{}", contentType: type)
                try answer.expectProblem(415)
            }
        }
    }

    @Test func `A body that is too large is 413`() async throws {
        try await withRetrieval { bench in
            let body = #"{"platform":"apns","pushChannel":"H"}"#
            let fitting = body + String(repeating: " ", count: 64 * 1024 - body.utf8.count)
            #expect(try await bench.install("1", fitting).status == .ok)
            try (try await bench.install("1", fitting + " ")).expectProblem(413)
        }
    }

    @Test(arguments: [
        "%", "%2", "%zz", "%+1", "%C3", "%00", "a%00b", ".", "..", "...", "%2e%2e", "%2E", "a%20b", "%24", "%C3%A9",
        "a%2Fb", "a%2Cb", "a@b", "a%40b", "a:b", "a%23b", "a=b", "a~b", "%EF%BF%BF",
        String(repeating: "a", count: 129),
    ])
    func `What is no ID in the path is not there`(_ id: String) async throws {
        try await withRetrieval { bench in
            for method in [HTTPRequest.Method.put, .get, .delete] {
                let answer = try await bench.request(
                    method, "/api/installations/\(id)", by: try bench.token(),
                    body: #"{"platform":"apns","pushChannel":"H"}"#)
                try answer.expectProblem(404)
            }
            for method in [HTTPRequest.Method.put, .delete] {
                let answer = try await bench.request(
                    method, "/api/register/\(id)", by: try bench.token(), body: #"{"Platform":"apns","Handle":"H"}"#)
                try answer.expectProblem(404)
            }
            #expect(bench.hub.ids.isEmpty)
        }
    }

    @Test func `IDs in the path are percent decoded`() async throws {
        try await withRetrieval { bench in
            let id = "aZ09-_." + String(repeating: "b", count: 121)
            let body = #"{"installationId":"\#(id)","platform":"apns","pushChannel":"H"}"#
            #expect(try await bench.install("%61Z09%2d%5F%2E" + id.dropFirst(7), body).status == .ok)
            #expect(bench.hub.ids == [id])
            let kept = try await bench.request(.get, "/api/installations/\(id)", by: try bench.token())
            #expect(kept.status == .ok)
        }
    }

    @Test(arguments: ["2030-01-01T00:00:00+14:00", "2030-01-01t00:00:00.5z", "2030-01-01T00:00:00"])
    func `Times that the hub can hold are taken`(_ time: String) async throws {
        try await withRetrieval { bench in
            let body = #"{"platform":"apns","pushChannel":"H","expirationTime":"\#(time)"}"#
            #expect(try await bench.install("1", body).status == .ok)
            let document = try #require(bench.hub.installations["1"]?.document)
            #expect(document.contains(#""expirationTime":"\#(time.uppercased())""#))
        }
    }
}

extension RetrievalBench {
    func install(_ id: String, _ body: String, by name: String = "alice") async throws -> TestResponse {
        try await request(.put, "/api/installations/\(id)", by: try token(name), body: body)
    }
}
