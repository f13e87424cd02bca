/// What the services' pages have in common; each service serves it among its own files.
package enum PageKit {
    /// `dom.js`: brings a document to a description of it and keeps the focus.
    package static let dom: [UInt8] = PackageResources.dom_js
}
