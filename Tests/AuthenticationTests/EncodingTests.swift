import Testing

@testable import Authentication

struct AuthorizationHeaderTests {
    @Test(arguments: ["Bearer abc", "bearer abc", "BEARER   abc", " Bearer abc \t", "bEaReR\tabc"])
    func `Bearer credentials are read`(value: String) throws {
        let header = try #require(AuthorizationHeader(value))
        #expect(header.scheme == .bearer)
        #expect(header.credentials == "abc")
        #expect(header.isToken68)
    }

    @Test(arguments: ["Bearerabc", "Digest abc", "Bear\u{5} abc", "\u{212A}earer abc", "B", "Bearer\u{301} abc"])
    func `Another scheme is other`(value: String) throws {
        #expect(try #require(AuthorizationHeader(value)).scheme == .other)
    }

    @Test(arguments: ["Bearer", "Bearer =", "Bearer a b", "Bearer a,b", "Bearer a=b", "Bearer é", "Bearer \"a\""])
    func `Credentials with other characters are no token68`(value: String) throws {
        #expect(try #require(AuthorizationHeader(value)).isToken68 == false)
    }

    @Test func `An empty header is none`() {
        #expect(AuthorizationHeader("") == nil)
        #expect(AuthorizationHeader("  ") == nil)
    }
}

struct GenerationalCacheTests {
    @Test func `The cache stays bounded and keeps what is used`() {
        var cache = GenerationalCache<Int, Int>(capacity: 100)
        cache.insert(-1, for: -1)
        for number in 0..<10_000 {
            cache.insert(number, for: number)
            #expect(cache.value(for: -1) == -1)
            #expect(cache.count <= 101)
        }
        #expect(cache.value(for: 9_999) == 9_999)
        #expect(cache.value(for: 0) == nil)
        cache.remove(-1)
        #expect(cache.value(for: -1) == nil)
    }
}
