import SignalboxJSON

/// Finds locations of a config in the texts of its files. Reads each file once for all values that are located by
/// their positions.
struct ConfigPlaces {
    private let files: [ConfigText]
    /// The values that positions lead to, by the text that the positions begin in.
    private var roots: [Root: Node] = [:]

    /// A file, or the value in it that was read as a text of its own.
    private struct Root: Hashable {
        let file: Int
        let pointer: String
    }

    /// A value that positions lead to or pass through.
    private struct Node {
        /// The key with its quotes; nil for an element and for a root.
        var key: Range<Int>?
        /// Of an object or array only the opening bracket; nil until the text has been read.
        var value: Range<Int>?
        /// The members or elements to find, by position.
        var children: [Int: Node] = [:]

        /// Adds the values on a path from here.
        mutating func insert(_ path: ArraySlice<Int>) {
            guard let first = path.first else { return }
            children[first, default: Node()].insert(path.dropFirst())
        }

        /// The value at the end of a path from here; nil if it was not inserted.
        func descendant(_ path: ArraySlice<Int>) -> Node? {
            guard let first = path.first else { return self }
            return children[first]?.descendant(path.dropFirst())
        }
    }

    /// `locations`: those that ``range(of:)`` will find. `files`: all files of the config; must be JSON.
    init(of locations: [ConfigLocation], in files: [ConfigText]) {
        self.files = files
        for location in locations {
            guard let path = location.path else { continue }
            roots[Root(file: location.file, pointer: path.start), default: Node()].insert(path.positions[...])
        }
        for (root, node) in roots {
            let text = files[root.file].bytes
            guard let start = JSONPosition(of: root.pointer, in: text)?.value.lowerBound else { continue }
            var node = node
            _ = Self.read(&node, from: start, in: text)
            roots[root] = node
        }
    }

    /// The bytes in the text of its file; nil when the text has no such value.
    func range(of location: ConfigLocation) -> Range<Int>? {
        if let path = location.path,
            let node = roots[Root(file: location.file, pointer: path.start)]?.descendant(path.positions[...]),
            let value = node.value
        {
            return location.isKey ? node.key ?? value : value
        }
        let place = JSONPosition(of: location.pointer, in: files[location.file].bytes)
        return location.isKey ? place?.key ?? place?.value : place?.value
    }

    /// Finds the value that begins at an offset, and its descendants of the node. Returns the end of the value. Reads
    /// each byte once. Recursive: a path is as deep as the parser permits at most.
    private static func read(_ node: inout Node, from start: Int, in text: [UInt8]) -> Int {
        let isObject = text[start] == UInt8(ascii: "{")
        let isContainer = isObject || text[start] == UInt8(ascii: "[")
        guard isContainer, !node.children.isEmpty else {
            let whole = JSONPosition.whole(from: start, in: text)
            node.value = isContainer ? start..<start + 1 : whole
            return whole.upperBound
        }
        node.value = start..<start + 1
        var place = start + 1
        var position = 0
        while let first = token(from: place, in: text) {
            guard !"}]".utf8.contains(text[first]) else { return first + 1 }
            let key = isObject ? JSONPosition.whole(from: first, in: text) : nil
            guard let value = key.map({ token(from: $0.upperBound, in: text) }) ?? first else { break }
            if var child = node.children[position] {
                child.key = key
                place = read(&child, from: value, in: text)
                node.children[position] = child
            } else {
                place = JSONPosition.whole(from: value, in: text).upperBound
            }
            position += 1
        }
        return text.count
    }

    /// The next byte that is not white space, a comma or a colon.
    private static func token(from start: Int, in text: [UInt8]) -> Int? {
        text[start...].firstIndex { $0 > 0x20 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ":") }
    }
}
