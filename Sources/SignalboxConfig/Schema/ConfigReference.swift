/// The tables of the reference page, made from the declarations of the options. docs/reference/config.md has this
/// text; a test compares them.
package enum ConfigReference {
    /// Markdown: a section with a table for each member of the config's object. Options without an effect, such as
    /// `$schema`, are left out. Ends without a line end.
    package static var text: String {
        GatewayConfig.options.infos.filter { !$0.key.hasPrefix("$") }.map { info in
            let members = rows(of: info, below: info.key + info.type.entry + ".")
            return "## \(info.key)\n\n\(info.documentation)"
                + (info.isInParts ? " Files in `routes.d` may also contain it." : "")
                + "\n\n" + table(members.isEmpty ? [row(info, "")] : members)
        }.joined(separator: "\n\n")
    }

    /// Nested options follow their object, with its path as prefix. Depth first, in the order of the declarations.
    private static func rows(of info: OptionInfo, below prefix: String) -> [[String]] {
        info.type.members.flatMap { member in
            [row(member, prefix)] + rows(of: member, below: prefix + member.key + member.type.entry + ".")
        }
    }

    /// Path, type with its limits, default, and meaning. Required options have no default. An option whose default
    /// only the documentation describes has an empty cell.
    private static func row(_ info: OptionInfo, _ prefix: String) -> [String] {
        let kind = info.type.kind + (info.type.limits.isEmpty ? "" : ", \(info.type.limits)")
        let value = info.isRequired ? "required" : info.defaultValue.map { "`\($0.compact)`" } ?? ""
        return ["`\(prefix)\(info.key)`", kind, value, info.documentation]
    }

    /// Escapes vertical bars, which separate cells.
    private static func table(_ rows: [[String]]) -> String {
        ([["option", "type", "default", "meaning"], ["---", "---", "---", "---"]] + rows).map { row in
            "| " + row.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }
}
