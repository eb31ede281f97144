import Foundation

/// An n-gram index: finds the strings that may occur in a text, in time linear in the text.
///
/// Each string is filed under one of its grams, the substrings of one length: under the gram that the fewest other
/// strings have. A scan looks up the grams at each position of the text. A gram in the text does not prove that its
/// strings are there too, so candidates need a check.
struct SubstringIndex: BitwiseCopyable {
    /// Leads from a gram to the candidates of all strings that are filed under it.
    private let grams: StringTable
    /// Lengths of the grams in the table, ascending: few, because each is looked up at each position.
    private let lengths: UnsafeBufferPointer<Int32>
    /// A Bloom filter of the grams' first bytes, `filteredBytes` of each. It skips most positions.
    private let filter: UnsafeBufferPointer<UInt64>
    private let filteredBytes: Int
    /// The byte that all grams start with; nil if they differ.
    private let firstByte: UInt8?

    /// Bounds on the lengths that are looked up at a position, and on a length.
    private static let mostLengths = 4
    private static let longestGram = 32
    /// Lengths of grams for strings of many lengths.
    private static let manyLengths = [1, 2, 4, 8]

    /// `lists`: the candidates of each string, which must not be empty. Nil if there are no strings. Takes time that
    /// grows with the total length of the strings, and memory for one gram of each string.
    init?(_ lists: [[UInt8]: [Candidate]], _ candidates: inout [Candidate], in arena: Arena) {
        var lengths = Set(lists.keys.map { min($0.count, Self.longestGram) }).sorted()
        if lengths.count > Self.mostLengths { lengths = Self.manyLengths }
        func grams(of string: [UInt8]) -> [ArraySlice<UInt8>] {
            let length = lengths.last { $0 <= string.count } ?? 0
            return (0...string.count - length).map { string[$0..<$0 + length] }
        }
        var uses: [ArraySlice<UInt8>: Int] = [:]
        for string in lists.keys {
            for gram in Set(grams(of: string)) { uses[gram, default: 0] += 1 }
        }
        var byGram: [[UInt8]: [Candidate]] = [:]
        for (string, list) in lists {
            let rarest = grams(of: string).min { uses[$0, default: 0] < uses[$1, default: 0] } ?? []
            byGram[Array(rarest), default: []] += list
        }
        guard let table = StringTable(byGram, &candidates, in: arena) else { return nil }
        let filteredBytes = min(byGram.keys.map(\.count).min() ?? 0, 4)
        precondition(filteredBytes > 0, "An empty string occurs everywhere and is not searched for.")
        var filter = [UInt64](repeating: 0, count: 256)
        for gram in byGram.keys {
            let bit = gram.withUnsafeBufferPointer { Self.filterBit(of: $0, at: 0, filteredBytes) }
            filter[bit / 64] |= 1 << UInt64(bit % 64)
        }
        self.grams = table
        self.lengths = arena.store(Set(byGram.keys.map { Int32($0.count) }).sorted())
        self.filter = arena.store(filter)
        self.filteredBytes = filteredBytes
        let firstBytes = Set(byGram.keys.map { $0[0] })
        firstByte = firstBytes.count == 1 ? firstBytes.first : nil
    }

    /// The bit of the filter for the bytes at a position, which has `count` bytes or more; at most 4. The filter has
    /// 2^14 bits, 2 KiB. A set bit can be a false positive, which costs one lookup.
    @inline(__always)
    private static func filterBit(of text: UnsafeBufferPointer<UInt8>, at start: Int, _ count: Int) -> Int {
        var window: UInt32 = 0
        if start + 4 <= text.count {
            window = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: start, as: UInt32.self)
            window = UInt32(littleEndian: window) & (.max >> UInt32(32 - 8 * count))
        } else {
            for position in 0..<count { window |= UInt32(text[start + position]) << UInt32(8 * position) }
        }
        return Int((window &* 0x9E37_79B1) >> 18)
    }

    /// Calls `body` with the posting list of every gram that occurs in the text; with the same one at each
    /// occurrence. If all grams start with the same byte, `memchr` finds the positions.
    @inline(__always)
    func forEachPostings(in text: UnsafeBufferPointer<UInt8>, _ body: (Run) -> Void) {
        var start = 0
        while start + filteredBytes <= text.count {
            if let firstByte {
                let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[start...])
                guard let base = rest.baseAddress, let hit = memchr(base, Int32(firstByte), rest.count) else { return }
                start += UnsafeRawPointer(hit) - base
                guard start + filteredBytes <= text.count else { return }
            }
            let bit = Self.filterBit(of: text, at: start, filteredBytes)
            if filter[bit / 64] >> UInt64(bit % 64) & 1 != 0 {
                for length in lengths where start + Int(length) <= text.count {
                    let gram = UnsafeBufferPointer(rebasing: text[start..<start + Int(length)])
                    let postings = grams.postings(of: gram)
                    if !postings.isEmpty { body(postings) }
                }
            }
            start += 1
        }
    }
}
