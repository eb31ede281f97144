/// The keys of a path that is known only at run time, prepared for lookups. For the paths of a catalogue.
package final class JSONKeyPath: @unchecked Sendable {
    // A class because it owns the memory of its keys: they are values without references, so that a lookup counts none.
    // Sendable: the memory never changes.
    /// Valid as long as the path.
    package let keys: UnsafeBufferPointer<JSONKey>
    private let memory: UnsafeMutableBufferPointer<JSONKey>
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// `keys`: unescaped, as UTF-8.
    package init(_ keys: [[UInt8]]) {
        // A byte more, because an empty allocation has no address.
        bytes = .allocate(capacity: keys.reduce(1) { $0 + $1.count })
        bytes.initialize(repeating: 0)
        memory = .allocate(capacity: keys.count)
        guard var start = bytes.baseAddress else { preconditionFailure("There is a byte.") }
        for (position, key) in keys.enumerated() {
            start.update(from: key, count: key.count)
            memory.initializeElement(
                at: position, to: JSONKey(head: JSONKeyHead(key), start: UnsafePointer(start), length: key.count))
            start += key.count
        }
        self.keys = UnsafeBufferPointer(memory)
    }

    deinit {
        memory.deallocate()
        bytes.deallocate()
    }
}
