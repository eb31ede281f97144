extension String {
    /// The path of the folder that contains the file or folder with this path. Empty for a relative path of one name,
    /// `/` for an entry of the root, and for the root itself. Does not read the disk and does not resolve `..`.
    /// Foundation's `deletingLastPathComponent` ends the process for a name of one character (Swift 6.3.1).
    package var parentPath: String {
        let slash = UInt8(ascii: "/")
        func withoutEnd(_ path: Substring.UTF8View) -> Substring.UTF8View {
            var path = path
            while path.count > 1, path.last == slash { path.removeLast() }
            return path
        }
        let path = withoutEnd(self[...].utf8)
        guard let last = path.lastIndex(of: slash) else { return "" }
        let parent = withoutEnd(path[..<last])
        return parent.isEmpty ? "/" : String(Substring(parent))
    }
}
