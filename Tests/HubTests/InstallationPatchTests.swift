import Domain
import Foundations
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import Hub

@Suite struct InstallationPatchTests {
    private static let path = "/hub/installations/inst-1?api-version=2020-06"

    /// A patch, and what a path in the document (names joined by blanks) is afterwards; nil: absent.
    private static let changes: [(patch: String, path: String, value: String?)] = [
        (#"{"op":"add","path":"/pushChannel","value":"https://new"}"#, "pushChannel", #""https://new""#),
        (#"{"op":"replace","path":"/pushChannel","value":"https://new"}"#, "pushChannel", #""https://new""#),
        (#"{"op":"Replace","path":"pushchannel","value":"https://new"}"#, "pushChannel", #""https://new""#),
        (#"{"op":"add","path":"/userId","value":"bob"}"#, "userId", #""bob""#),
        (#"{"op":"replace","path":"/userId","value":"bob"}"#, "userId", #""bob""#),
        (#"{"op":"remove","path":"/userId"}"#, "userId", nil),
        (#"{"op":"remove","path":"/userId","value":""}"#, "userId", nil),
        (#"{"op":"add","path":"/tags","value":"bar"}"#, "tags", #"["bar","foo1","two-words"]"#),
        (#"{"op":"add","path":"/tags","value":"FOO1"}"#, "tags", #"["foo1","two-words"]"#),
        (#"{"op":"add","path":"/tags/-","value":"bar"}"#, "tags", #"["bar","foo1","two-words"]"#),
        (#"{"op":"add","path":"/tags/bar","value":"bar"}"#, "tags", #"["bar","foo1","two-words"]"#),
        (#"{"op":"replace","path":"/tags","value":"bar"}"#, "tags", #"["bar","foo1","two-words"]"#),
        (#"{"op":"add","path":"/tags","value":["b","c"]}"#, "tags", #"["b","c","foo1","two-words"]"#),
        (#"{"op":"replace","path":"/tags","value":["b","c"]}"#, "tags", #"["b","c"]"#),
        (#"{"op":"replace","path":"/tags","value":"[\"b\",\"c\"]"}"#, "tags", #"["b","c"]"#),
        (#"{"op":"replace","path":"/tags/foo1","value":"b"}"#, "tags", #"["b","two-words"]"#),
        (#"{"op":"remove","path":"/tags/Foo1"}"#, "tags", #"["two-words"]"#),
        (#"{"op":"remove","path":"/tags/absent"}"#, "tags", #"["foo1","two-words"]"#),
        (#"{"op":"remove","path":"/tags"}"#, "tags", nil),
        (#"{"op":"add","path":"/templates/n","value":"{\"body\":\"b\"}"}"#, "templates n", #"{"body":"b"}"#),
        (#"{"op":"add","path":"/templates/n","value":{"body":"b"}}"#, "templates n", #"{"body":"b"}"#),
        (#"{"op":"replace","path":"/templates/t1","value":"{\"body\":\"b\"}"}"#, "templates t1", #"{"body":"b"}"#),
        (#"{"op":"add","path":"/templates/a~1b","value":{"body":"b"}}"#, "templates a/b", #"{"body":"b"}"#),
        (#"{"op":"add","path":"/templates","value":{"n":{"body":"b"}}}"#, "templates n body", #""b""#),
        (#"{"op":"replace","path":"/templates","value":"{\"n\":{\"body\":\"b\"}}"}"#, "templates t1", nil),
        (#"{"op":"remove","path":"/templates/t1"}"#, "templates", nil),
        (#"{"op":"remove","path":"/templates/absent"}"#, "templates t1 tags", #"["foo2"]"#),
        (#"{"op":"remove","path":"/templates"}"#, "templates", nil),
        (#"{"op":"replace","path":"/templates/t1/body","value":"new"}"#, "templates t1 body", #""new""#),
        (#"{"op":"add","path":"/templates/n/body","value":"new"}"#, "templates n", #"{"body":"new"}"#),
        (
            #"{"op":"replace","path":"/templates/t1/headers","value":"{\"h\":\"v\"}"}"#, "templates t1 headers",
            #"{"h":"v"}"#
        ),
        (#"{"op":"replace","path":"/templates/t1/headers","value":{"h":"v"}}"#, "templates t1 headers", #"{"h":"v"}"#),
        (#"{"op":"add","path":"/templates/t1/headers/h","value":"v"}"#, "templates t1 headers h", #""v""#),
        (#"{"op":"remove","path":"/templates/t1/headers/X-WNS-Type"}"#, "templates t1 headers", nil),
        (#"{"op":"remove","path":"/templates/t1/headers"}"#, "templates t1 headers", nil),
        (#"{"op":"add","path":"/templates/t1/tags","value":"x"}"#, "templates t1 tags", #"["foo2","x"]"#),
        (#"{"op":"replace","path":"/templates/t1/tags","value":"[\"x\"]"}"#, "templates t1 tags", #"["x"]"#),
        (#"{"op":"remove","path":"/templates/t1/tags/foo2"}"#, "templates t1 tags", nil),
        (#"{"op":"add","path":"/templates/t1/expiry","value":"2030"}"#, "templates t1 expiry", #""2030""#),
        (#"{"op":"add","path":"/pushVariables","value":{"w":"2"}}"#, "pushVariables", #"{"w":"2"}"#),
        (#"{"op":"add","path":"/pushVariables/w","value":"2"}"#, "pushVariables", #"{"v":"1","w":"2"}"#),
        (#"{"op":"remove","path":"/pushVariables"}"#, "pushVariables", nil),
        // Slashes and tildes are found beside combining marks.
        (
            "{\"op\":\"add\",\"path\":\"/pushVariables/\u{301}w~1\u{301}\",\"value\":\"2\"}",
            "pushVariables \u{301}w/\u{301}", #""2""#
        ),
        (
            #"{"op":"add","path":"/secondaryTiles/n","value":"{\"pushChannel\":\"c\"}"}"#, "secondaryTiles n",
            #"{"pushChannel":"c"}"#
        ),
        (
            #"{"op":"replace","path":"/secondaryTiles/tile1/pushChannel","value":"c"}"#,
            "secondaryTiles tile1 pushChannel", #""c""#
        ),
        (
            #"{"op":"add","path":"/secondaryTiles/tile1/tags","value":"x"}"#, "secondaryTiles tile1 tags",
            #"["foo3","x"]"#
        ),
        (#"{"op":"remove","path":"/secondaryTiles/tile1/templates/t2"}"#, "secondaryTiles tile1 templates", nil),
        (#"{"op":"remove","path":"/secondaryTiles/tile1"}"#, "secondaryTiles", nil),
        (
            #"{"op":"replace","path":"/expirationTime","value":"2100-01-01T00:00:00Z"}"#, "expirationTime",
            #""2100-01-01T00:00:00Z""#
        ),
        (#"{"op":"remove","path":"/expirationTime"}"#, "expirationTime", #""9999-12-31T23:59:59.9999999Z""#),
    ]

    @Test(arguments: changes.indices) func `Patches do what the service does`(_ index: Int) async throws {
        let change = Self.changes[index]
        try await withEmulator { emulator in
            _ = try await emulator.install(TestInstallation.full)
            let patched = try await emulator.call(.patch, Self.path, body: "[\(change.patch)]")
            #expect(patched.status == .ok, "\(change.patch) \(patched.text)")
            #expect(patched.text.isEmpty)
            let document = try #require(JSONValue(text: try await emulator.call(.get, Self.path).text))
            let names = change.path.unicodeScalars.split(separator: " ").map(String.init)
            let value = names.reduce(document as JSONValue?) { $0?[$1] }
            #expect(value == change.value.flatMap { JSONValue(text: $0) }, "\(change.patch)")
        }
    }

    @Test(arguments: [
        "", "{}", "[7]", #"[{"op":"add","value":"x"}]"#, #"[{"op":"move","path":"/tags","value":"x"}]"#,
        #"[{"op":"add","path":"/tags"}]"#, #"[{"op":"add","path":"/tags","value":7}]"#,
        #"[{"op":"add","path":"/platform","value":"wns"}]"#, #"[{"op":"remove","path":"/pushChannel"}]"#,
        #"[{"op":"add","path":"/installationId","value":"x"}]"#, #"[{"op":"add","path":"/novel","value":"x"}]"#,
        #"[{"op":"add","path":"/templates/t","value":"x"}]"#, #"[{"op":"add","path":"/templates/t","value":"{}"}]"#,
        #"[{"op":"add","path":"/templates/absent/tags","value":"x"}]"#,
        #"[{"op":"remove","path":"/templates/t1/body"}]"#,
        #"[{"op":"add","path":"/templates/t1/novel","value":"x"}]"#, #"[{"op":"add","path":"/tags/a/b","value":"x"}]"#,
        #"[{"op":"add","path":"/expirationTime","value":"soon"}]"#, #"[{"op":"add","path":"/userId","value":{}}]"#,
        #"[{"op":"add","path":"/secondaryTiles/absent/tags","value":"x"}]"#,
        #"[{"op":"add","path":"/tags","value":[\#((1...61).map { "\"t\($0)\"" }.joined(separator: ","))]}]"#,
        #"[{"op":"add","path":"/tags","value":"good"},{"op":"add","path":"/novel","value":"x"}]"#,
    ])
    func `A bad patch is 400 and changes nothing`(_ patch: String) async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(TestInstallation.full)
            let before = try await emulator.call(.get, Self.path).text
            let response = try await emulator.call(.patch, Self.path, body: patch)
            #expect(response.status == .badRequest, "\(patch)")
            #expect(response.text.hasPrefix("<Error><Code>400</Code><Detail>"))
            #expect(try await emulator.call(.get, Self.path).text == before)
        }
    }

    @Test func `Patches do not make an installation larger than a request`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(TestInstallation.minimal)
            let text = String(repeating: "x", count: 40_000)
            for (name, status) in [("a", 200), ("b", 413), ("a", 200)] {
                let patch = #"[{"op":"add","path":"/pushVariables/\#(name)","value":"\#(text)"}]"#
                #expect(try await emulator.call(.patch, Self.path, body: patch).status.code == status)
            }
            let document = try #require(JSONValue(text: try await emulator.call(.get, Self.path).text))
            #expect(document["pushVariables"]?.members?.map(\.name) == ["a"])
        }
    }

    @Test func `An imported installation that is larger can be patched, and cannot grow`() throws {
        let body = String(repeating: "x", count: 40_000)
        let installation = try HubInstallation(
            id: "i",
            document: Array(
                #"{"platform":"gcm","pushChannel":"a","pushVariables":{"a":"\#(body)","b":"\#(body)"}}"#.utf8))
        let shrink = try InstallationPatch(Array(#"[{"op":"add","path":"/pushVariables/a","value":"1"}]"#.utf8))
        #expect(try shrink.applied(to: installation).pushVariables["a"] == "1")
        let grow = try InstallationPatch(Array(#"[{"op":"add","path":"/pushVariables/c","value":"1"}]"#.utf8))
        let refused = #expect(throws: HubError.self) { _ = try grow.applied(to: installation) }
        #expect(refused?.status == .contentTooLarge)
    }

    @Test func `What is not there cannot be patched`() async throws {
        try await withEmulator { emulator in
            let response = try await emulator.call(
                .patch, Self.path, body: #"[{"op":"add","path":"/tags","value":"x"}]"#)
            #expect(response.status == .notFound)
            #expect(response.detail?.hasPrefix("Installation not found.TrackingId:") == true)
        }
    }

    @Test func `Operations follow one another`() async throws {
        try await withEmulator { emulator in
            _ = try await emulator.install(TestInstallation.minimal)
            let patch =
                #"[{"op":"add","path":"/pushChannel","value":"cd34"},{"op":"add","path":"/tags","value":"bar"},"#
                + #"{"op":"remove","path":"/tags/bar"},{"op":"add","path":"/tags","value":"baz"}]"#
            _ = try await emulator.call(.patch, Self.path, body: patch)
            for (tag, handles) in [("bar", []), ("baz", ["CD34"])] {
                _ = try await emulator.send(tags: tag)
                #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == handles)
            }
        }
    }
}
