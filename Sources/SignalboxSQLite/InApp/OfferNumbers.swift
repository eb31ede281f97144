import SignalboxInApp
import SignalboxStore

/// The numbers of the offers of one device: the column `offers` of its row. An index with the device of each offer
/// would change one page for each new offer, while the row of the device is written anyway.
struct OfferNumbers: Equatable {
    /// In the order in which the offers were made.
    private(set) var all: [Int64] = []

    /// A device without offers.
    init() {}

    /// Reads the column. Throws ``DamagedValue`` for a text that is not a list of numbers.
    init(_ row: RowColumns, _ column: Int) throws {
        guard let text = try row.optionalText(column) else { return }
        for part in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            guard let number = Int64(Substring(part)), number > 0 else { throw FieldContent.damage }
            all.append(number)
        }
    }

    /// The column; nil for an empty list.
    var text: String? {
        if all.isEmpty { return nil }
        // A device often has one offer.
        return all.count == 1 ? String(all[0]) : all.map { String($0) }.joined(separator: " ")
    }

    /// `number`: of an offer that is not in the list.
    mutating func append(_ number: Int64) { all.append(number) }

    /// No effect for another number.
    mutating func remove(_ number: Int64) { all.removeAll { $0 == number } }
}

/// The offers of one device as a decision loaded or changed them.
struct OfferList {
    /// The numbers of all offers of the device.
    var numbers: OfferNumbers
    /// The numbers by id. Offers of a device that the decision did not load are missing.
    var known: [OfferID: Int64] = [:]
    /// Whether ``known`` has all offers of the device, so that any other offer is new.
    var isComplete = false
    /// Whether the row of the device has these numbers.
    var isWritten = false
}
