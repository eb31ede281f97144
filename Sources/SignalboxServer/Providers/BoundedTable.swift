/// A dictionary of bounded size that drops old entries: an entry is dropped once at least half of the capacity has been
/// inserted after it. Every operation takes constant time.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    // Two generations instead of a list by age: a full one replaces the older one as a whole.
    /// The newest entries, at most ``half``.
    private var young: [Key: Value] = [:]
    /// Entries of the generation before, dropped together when ``young`` is full.
    private var old: [Key: Value] = [:]
    private let half: Int

    /// `capacity`: the most entries, at least 2.
    init(capacity: Int) { half = max(1, capacity / 2) }

    /// The number of entries.
    var count: Int { young.count + old.count }

    /// Setting a value makes the entry the youngest one. Setting nil removes it. Reading does not make an entry
    /// younger.
    subscript(_ key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            old[key] = nil
            young[key] = newValue
            guard young.count > half else { return }
            // The entry that exceeds the half begins the next generation.
            young[key] = nil
            old = young
            young = newValue.map { [key: $0] } ?? [:]
        }
    }
}
