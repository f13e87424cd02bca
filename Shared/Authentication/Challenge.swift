/// The challenges this module makes.
enum Challenge {
    /// RFC 6750, section 3, without an error: the request had no token.
    static let bearer = #"Bearer realm="securepush""#

    /// RFC 7617, sections 2 and 2.1.
    static let basic = #"Basic realm="securepush", charset="UTF-8""#

    /// RFC 6750, section 3.1. The description is ours, and holds no quote or backslash.
    static func invalidToken(_ description: String) -> String {
        #"Bearer realm="securepush", error="invalid_token", error_description="\#(description)""#
    }
}
