import SignalboxJSON

/// Alternative paths, the first of which with a usable value counts.
///
/// Most lists of an entry have no value in a payload. A filter of their first keys rules them out by one comparison,
/// without a visit of the paths.
struct CataloguePaths: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// In the order in which they are tried.
    private(set) var all: [CataloguePath]
    /// The first keys of the paths.
    fileprivate private(set) var starts = JSONKeyFilter()
    /// True if the filter cannot rule the list out: a path begins with `*` or `{i}`, or searches the whole payload.
    fileprivate private(set) var isOpen = false

    /// In the order in which they are tried.
    init(_ paths: [CataloguePath]) {
        all = paths
        for path in paths {
            if path.scope != .payload, let key = path.firstKey {
                starts.insert(JSONKeyHead(key))
            } else {
                isOpen = true
            }
        }
    }

    init(arrayLiteral paths: CataloguePath...) { self.init(paths) }

    static func == (left: Self, right: Self) -> Bool { left.all == right.all }

    /// True without a path.
    var isEmpty: Bool { all.isEmpty }

    /// True if keys of one of the paths count up.
    var isCounted: Bool { all.contains(where: \.isCounted) }

    /// Removes every path that leads through another path.
    mutating func remove(through path: CataloguePath) {
        guard all.contains(where: { $0.leads(through: path) }) else { return }
        self = CataloguePaths(all.filter { !$0.leads(through: path) })
    }
}

extension PlatformPayload {
    /// False only if none of the paths has a value.
    @inline(__always)
    func mayHave(_ paths: CataloguePaths) -> Bool { paths.isOpen || fields.mayContain(anyOf: paths.starts) }
}
