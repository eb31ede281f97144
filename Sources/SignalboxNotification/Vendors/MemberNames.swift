import SignalboxJSON

/// The names of one object's members. A name that is taken gets a prefix, repeated as needed. Takes time linear in the
/// length of all names, even if the keys of the payload are such names.
struct MemberNames {
    /// A taken name, and the prefix that leads to the next one.
    private struct Step: Hashable {
        let name: [UInt8]
        let prefix: [UInt8]
    }

    /// Keys of the payload, borrowed like its values.
    private var keys = JSONKeySet()
    /// Names that readers made; the payload need not contain them.
    private var made: Set<[UInt8]> = []
    /// A longer name with the same prefix, such that all names between the two are taken.
    private var next: [Step: [UInt8]] = [:]
    /// The number of names that were examined to make one, as a measure of the work.
    private(set) var examined = 0

    /// Takes a key of the payload. Returns false if the name is taken.
    mutating func insert(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        (made.isEmpty || !made.contains(Array(key))) && keys.insert(key)
    }

    /// Takes a name, or the first free one with the prefix once or several times in front, and returns it. `prefix`:
    /// not empty.
    mutating func insert(made name: [UInt8], elseWith prefix: [UInt8]) -> [UInt8] {
        var name = name
        var passed: [Step] = []
        while isTaken(name) {
            let step = Step(name: name, prefix: prefix)
            passed.append(step)
            name = next[step] ?? prefix + name
        }
        // Later searches from these names skip all names up to this one.
        for step in passed { next[step] = name }
        made.insert(name)
        return name
    }

    private mutating func isTaken(_ name: [UInt8]) -> Bool {
        examined += 1
        return made.contains(name) || name.withUnsafeBufferPointer { keys.contains($0) }
    }
}
