import SignalboxStore

/// The numbers of the offers of one device, in the order in which they were made: the column `offers` of its row. An
/// index with the device of each offer would change one page for each new offer, while the row of the device is
/// written anyway.
enum OfferNumbers {
    /// Empty for NULL. Throws ``DamagedValue`` for a text that is not a list of numbers.
    static func read(_ row: RowColumns, _ column: Int) throws -> [Int64] {
        guard let text = try row.optionalText(column) else { return [] }
        return try text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { part in
            guard let number = Int64(Substring(part)), number > 0 else { throw FieldContent.damage }
            return number
        }
    }

    /// The column; nil for an empty list.
    static func text(_ numbers: [Int64]) -> String? {
        if numbers.isEmpty { return nil }
        // A device often has one offer.
        return numbers.count == 1 ? String(numbers[0]) : numbers.map { String($0) }.joined(separator: " ")
    }
}
