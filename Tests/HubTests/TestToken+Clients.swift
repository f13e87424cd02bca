extension TestToken {
    private static func root(_ url: String) -> String {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/") + "/"
    }

    /// One entry for each row of differences in the reference.
    static let clients: [TestToken] = [
        TestToken(
            client: ".NET: http forced, port and query dropped, trailing slash", upperSignature: false,
            unescaped: "!*()", plusForBlank: true,
            resource: { url in
                let path = url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
                let plain = path.joined(separator: "/").prefix { $0 != "?" }
                return "http://127.0.0.1/" + (plain.hasSuffix("/") ? plain : plain + "/")
            }),
        TestToken(
            client: "Java: whole request URL, name raw", unescaped: "*", plusForBlank: true, escapesName: false),
        TestToken(
            client: "JS: namespace root, upper-case escapes", upperResource: true, unescaped: "~!*'()",
            resource: { root($0) }),
        TestToken(
            client: "azure-sb: sig first, request URL", unescaped: "~!*'()", escapesName: false,
            order: ["sig", "se", "skn", "sr"]),
        TestToken(
            client: "azure-sb: hub URL", unescaped: "~!*'()", escapesName: false, order: ["sig", "se", "skn", "sr"],
            resource: { root($0) + "hub" }),
        TestToken(
            client: "azure-sb: root", unescaped: "~!*'()", escapesName: false, order: ["sig", "se", "skn", "sr"],
            resource: { root($0) }),
        TestToken(client: "PHP: root", unescaped: "~", escapesName: false, resource: { root($0) }),
        TestToken(
            client: "Ruby: endpoint with sb", unescaped: "~", escapesName: false,
            resource: { root($0).replacing("http://", with: "sb://") }),
        TestToken(
            client: "Python sample: sig first, slash of sig raw", unescaped: "~", escapesName: false,
            order: ["sig", "se", "skn", "sr"], unescapedInSignature: "~/"),
        TestToken(
            client: "Go: root without slash, sorted fields", upperResource: true, unescaped: "~", plusForBlank: true,
            order: ["se", "sig", "skn", "sr"], resource: { String(root($0).dropLast()) }),
        TestToken(
            client: "Go 2: endpoint as given", upperResource: true, unescaped: "~", plusForBlank: true,
            resource: { root($0).replacing("http://", with: "sb://") }),
    ]
}
