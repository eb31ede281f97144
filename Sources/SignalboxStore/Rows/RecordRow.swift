package import Foundation

/// A row of a store, for the records that every store reads from equal columns. Columns are counted from 0. Reads
/// without `optional` in their name throw for NULL; all of them throw ``DamagedValue`` for a value of another type.
///
/// For inspection and media: a store reads its leases from its own type of row, without this protocol.
package protocol RecordRow {
    func number(_ column: Int) throws -> Int64
    func optionalNumber(_ column: Int) throws -> Int64?
    func count(_ column: Int) throws -> Int
    func optionalCount(_ column: Int) throws -> Int?
    func flag(_ column: Int) throws -> Bool
    /// A time in milliseconds since 1970.
    func date(_ column: Int) throws -> Date
    func optionalDate(_ column: Int) throws -> Date?
    func text(_ column: Int) throws -> String
    func optionalText(_ column: Int) throws -> String?
    /// One of the values of an enumeration. Throws for a word that this version does not know.
    func word<Word: RawRepresentable<String>>(_ column: Int, as: Word.Type) throws -> Word
    func bytes(_ column: Int) throws -> [UInt8]
    func optionalBytes(_ column: Int) throws -> [UInt8]?
    /// The text form of an event's id.
    func eventID(_ column: Int) throws -> String
}
