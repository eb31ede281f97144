import SignalboxEgress
import SignalboxNotification

extension MediaRemark {
    /// What the server and the URL say otherwise than the content. Who says nothing says nothing wrong.
    static func all(of kind: MediaKind, contentType: String?, url: OutboundURL) -> [MediaRemark] {
        var remarks: [MediaRemark] = []
        if let contentType, !agrees(contentType, with: kind) { remarks.append(.contentType) }
        if let end = fileExtension(of: url), isKnown(end), !kind.fileExtensions.contains(end) {
            remarks.append(.fileExtension)
        }
        return remarks
    }

    /// Types that servers give to files they know nothing of.
    private static let noTypes: Set<String> = [
        "", "application/octet-stream", "binary/octet-stream", "application/x-octet-stream", "application/binary",
        "application/unknown", "application/force-download", "application/download", "application/x-download",
        "content/unknown", "unknown/unknown", "*/*",
    ]

    private static func agrees(_ contentType: String, with kind: MediaKind) -> Bool {
        // Without parameters, and without what a doubled header leaves.
        let type = contentType.prefix { $0 != ";" && $0 != "," }.lowercased().trimmingBlanks
        return noTypes.contains(type) || kind.contentTypes.contains(type)
    }

    /// Of the path's last component, in lower case; nil when it has none.
    private static func fileExtension(of url: OutboundURL) -> String? {
        let name = url.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return name[name.index(after: dot)...].lowercased()
    }

    /// Whether a file that is called so is of some kind; a script that makes pictures may be called anything.
    private static func isKnown(_ fileExtension: String) -> Bool {
        MediaKind.allCases.contains { $0.family != nil && $0.fileExtensions.contains(fileExtension) }
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var text = self[...]
        while text.first == " " || text.first == "\t" { text = text.dropFirst() }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
