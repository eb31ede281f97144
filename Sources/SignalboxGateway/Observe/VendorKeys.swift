/// The keys of one vendor's payloads that no detector reads. A value without a lock.
package struct VendorKeys: Sendable, Equatable {
    /// The most pointers. Further ones are counted only.
    package static let most = 500

    /// The record of a key.
    package struct Key: Sendable, Equatable {
        /// Milliseconds since 1970.
        package let firstSeen: Int64
        /// Events with the key, of those that were examined.
        package internal(set) var count: Int
        package internal(set) var type: KeyType
    }

    /// By JSON Pointer.
    package private(set) var known: [String: Key] = [:]
    /// Sightings of keys beyond ``most``.
    package private(set) var folded = 0

    init() {}

    /// Restores a record. Pointers beyond ``most`` are left out.
    init(known: [String: Key], folded: Int) {
        self.known = Dictionary(uniqueKeysWithValues: known.sorted { $0.key < $1.key }.prefix(Self.most).map { $0 })
        self.folded = folded
    }

    /// Records the keys of one event.
    mutating func record(_ pointers: [String: KeyType], at milliseconds: Int64) {
        for (pointer, type) in pointers {
            if let key = known[pointer] {
                known[pointer]?.count = key.count + 1
                known[pointer]?.type = key.type.joined(with: type)
            } else if known.count < Self.most {
                known[pointer] = Key(firstSeen: milliseconds, count: 1, type: type)
            } else {
                folded += 1
            }
        }
    }
}
