/// The emulator's page as one document: its style and scripts are put in at start, so that nothing else is loaded.
enum PageDocument {
    static let bytes: [UInt8] = {
        let style = String(decoding: PackageResources.style_css, as: UTF8.self)
        let script =
            String(decoding: PackageResources.script_js, as: UTF8.self)
            + String(decoding: PackageResources.controls_js, as: UTF8.self)
        let page = String(decoding: PackageResources.index_html, as: UTF8.self)
            .replacing("/* style.css */", with: "\n" + style).replacing("/* script.js */", with: "\n" + script)
        return Array(page.utf8)
    }()
}
