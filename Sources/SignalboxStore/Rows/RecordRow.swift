package import Foundation

/// A row of a store, for the records that every store reads from equal columns. Columns are counted from 0. Reads
/// without `optional` in their name throw for NULL; all of them throw ``DamagedValue`` for a value of another type.
///
/// For inspection, media and in-app rows: a store reads its leases from its own type of row, without this protocol.
package protocol RecordRow {
    /// An integer of 64 bits.
    func number(_ column: Int) throws -> Int64
    /// Nil for NULL.
    func optionalNumber(_ column: Int) throws -> Int64?
    /// An integer that is a number of things.
    func count(_ column: Int) throws -> Int
    /// Nil for NULL.
    func optionalCount(_ column: Int) throws -> Int?
    /// A boolean, in the form of the store.
    func flag(_ column: Int) throws -> Bool
    /// A time in milliseconds since 1970.
    func date(_ column: Int) throws -> Date
    /// Nil for NULL.
    func optionalDate(_ column: Int) throws -> Date?
    /// A text of any length.
    func text(_ column: Int) throws -> String
    /// Nil for NULL.
    func optionalText(_ column: Int) throws -> String?
    /// One of the values of an enumeration. Throws for a word that this version does not know.
    func word<Word: RawRepresentable<String>>(_ column: Int, as: Word.Type) throws -> Word
    /// Bytes of any number; of a store that does not tell them from texts, also the UTF-8 form of a text.
    func bytes(_ column: Int) throws -> [UInt8]
    /// Nil for NULL.
    func optionalBytes(_ column: Int) throws -> [UInt8]?
    /// Calls `read` with bytes that are valid during the call. Returns nil for NULL.
    func withBytes<Value>(_ column: Int, _ read: (UnsafeRawBufferPointer) throws -> Value) throws -> Value?
    /// The text form of an event's id.
    func eventID(_ column: Int) throws -> String
}

extension RecordRow {
    /// Copies the bytes.
    package func withBytes<Value>(
        _ column: Int, _ read: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value? { try optionalBytes(column)?.withUnsafeBytes { try read($0) } }
}
