import Testing

@testable import Postgres

@Suite struct SessionOptionsTests {
    @Test(arguments: [
        ("-c search_path=mine", "search_path=mine"), ("-csearch_path=mine", "search_path=mine"),
        ("--search-path=mine", "search_path=mine"), ("  -c a=1   --b=2 ", "a=1 b=2"), ("", ""),
        (#"-c search_path=a,\ b"#, "search_path=a, b"), (#"-c x=\\"#, #"x=\"#), ("-c x=", "x="),
        ("-c x=a=b", "x=a=b"),
    ])
    func `Options are read as the server reads them`(text: String, settings: String) {
        let options = SessionOptions(text)
        let read = options.map { zip($0.names, $0.values).map { "\($0)=\($1)" }.joined(separator: " ") }
        #expect(read == settings)
    }

    @Test(arguments: ["-B 100", "-c", "-c x", "-c =1", "search_path=mine", "-e -c a=1"])
    func `What only the server understands is left to it`(text: String) throws {
        #expect(SessionOptions(text) == nil)
        let encoded = text.replacing(" ", with: "%20").replacing("=", with: "%3D")
        let configuration = try PostgresConfiguration(uri: "postgres://h/d?options=\(encoded)")
        #expect(configuration.keywords["options"] == text && configuration.session.options == nil)
    }

    @Test func `They are not sent with the start of the connection`() throws {
        let configuration = try PostgresConfiguration(uri: "postgres://h/d?options=-c%20a%3D1&target_session_attrs=any")
        #expect(configuration.keywords["options"] == nil && configuration.session.options?.values == ["1"])
        #expect(configuration.keywords["target_session_attrs"] == "any")
        #expect(configuration.keywords["client_encoding"] == "UTF8" && configuration.keywords["dbname"] == "d")
    }
}
