/// The files that the services' pages share; each service serves them among its own files.
package enum PageKit {
    /// `dom.js`: brings a document to a description of it and keeps the focus.
    package static let dom: [UInt8] = PackageResources.dom_js
}
