/// The page of documentation that says who is recognised.
package enum VendorTable {
    /// A table in Markdown, one row for each vendor, in the order in which they are asked.
    package static var markdown: String {
        let rows = Vendors.profiles.map { profile in
            cells([
                profile.name ?? profile.vendor.name, "`\(profile.vendor)`", profile.looksFor,
                profile.source ?? "built in as code; see its file", profile.confidence ?? "",
            ])
        }
        let head = ["Vendor", "`vendor`", "Recognised by", "Source", "Read from"]
        return ([cells(head), cells(head.map { _ in "---" })] + rows).joined(separator: "\n")
    }

    private static func cells(_ texts: [String]) -> String {
        "| " + texts.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
