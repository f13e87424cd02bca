import HTTPTypes

extension HTTPFields {
    /// What the subscript gives, faster for the usual field that stands once: the subscript joins even one value.
    func value(of name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
