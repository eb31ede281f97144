import CPostgres
import Foundation
import SignalboxPostgres

/// A client of libpq that only sends prepared statements with binary arguments, pipelined. It is the yardstick of the
/// store's speed. A class because it owns a connection; used by one thread.
final class BareClient {
    private let connection: OpaquePointer
    private var names: [String: String] = [:]

    /// `url`: with the schema in its options.
    init(url: String) throws {
        guard let connection = PQconnectdb(url) else { throw BareFailure(reason: "no connection") }
        self.connection = connection
        guard PQstatus(connection) == CONNECTION_OK else { throw failure() }
        PQenterPipelineMode(connection)
    }

    deinit { PQfinish(connection) }

    /// Sends statements in one round trip. `read`: receives the result of each.
    func run(_ statements: [(text: String, arguments: Arguments)], read: (Int, OpaquePointer) -> Void = { _, _ in })
        throws
    {
        var count = 0
        for (text, arguments) in statements {
            if let name = names[text] {
                try send(name, arguments)
                count += 1
            } else {
                let name = "b\(names.count)"
                guard PQsendPrepare(connection, name, text, Int32(arguments.types.count), arguments.types) == 1 else {
                    throw failure()
                }
                names[text] = name
                try send(name, arguments)
                count += 2
            }
        }
        guard PQpipelineSync(connection) == 1 else { throw failure() }
        var (position, broken) = (0, false)
        for _ in 0..<count {
            guard let result = PQgetResult(connection) else { throw failure() }
            let status = PQresultStatus(result)
            if status == PGRES_TUPLES_OK || PQresultStatus(result) == PGRES_COMMAND_OK {
                // A preparation has no command.
                if PQcmdStatus(result).pointee != 0 {
                    read(position, result)
                    position += 1
                }
            } else {
                broken = true
            }
            PQclear(result)
            PQclear(PQgetResult(connection))
        }
        PQclear(PQgetResult(connection))
        if broken { throw failure() }
    }

    private func send(_ name: String, _ arguments: Arguments) throws {
        let sent = arguments.bytes.withUnsafeBytes { bytes in
            let values = arguments.starts.map {
                bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self)
            }
            return PQsendQueryPrepared(
                connection, name, Int32(values.count), values, arguments.lengths, arguments.formats, 1)
        }
        guard sent == 1 else { throw failure() }
    }

    private func failure() -> BareFailure { BareFailure(reason: String(cString: PQerrorMessage(connection))) }
}

struct BareFailure: Error {
    let reason: String
}

/// Arguments in PostgreSQL's binary format, written once into one buffer.
struct Arguments {
    private(set) var bytes: [UInt8] = []
    private(set) var starts: [Int] = []
    private(set) var lengths: [Int32] = []
    private(set) var types: [UInt32] = []
    var formats: [Int32] { [Int32](repeating: 1, count: starts.count) }

    mutating func add(_ number: Int64) { value(20) { $0.append(bigEndian: number) } }

    mutating func add(_ text: String) { value(25) { $0.bytes.append(contentsOf: text.utf8) } }

    mutating func add(_ numbers: [Int64]) {
        list(1016, of: 20, numbers.count, 8) { $0.append(bigEndian: numbers[$1]) }
    }

    /// An array with `count` copies of a text.
    mutating func add(_ text: String, times count: Int) {
        let text = Array(text.utf8)
        list(1009, of: 25, count, text.count) { buffer, _ in buffer.bytes.append(contentsOf: text) }
    }

    /// An array with `count` copies of a byte string.
    mutating func add(_ bytes: [UInt8], times count: Int) {
        list(1001, of: 17, count, bytes.count) { buffer, _ in buffer.bytes.append(contentsOf: bytes) }
    }

    /// An array of random ids.
    mutating func addIDs(_ count: Int) {
        list(2951, of: 2950, count, 16) { buffer, _ in
            buffer.append(bigEndian: UInt64.random(in: 0 ... .max))
            buffer.append(bigEndian: UInt64.random(in: 0 ... .max))
        }
    }

    mutating func add(_ flag: Bool, times count: Int) {
        list(1000, of: 16, count, 1) { buffer, _ in buffer.bytes.append(flag ? 1 : 0) }
    }

    /// An array of `count` NULLs. `type`: of the array and of its elements.
    mutating func addNulls(_ type: (list: UInt32, element: UInt32), times count: Int) {
        list(type.list, of: type.element, count, -1) { _, _ in }
    }

    private mutating func value(_ type: UInt32, _ write: (inout Self) -> Void) {
        let start = bytes.count
        write(&self)
        starts.append(start)
        lengths.append(Int32(bytes.count - start))
        types.append(type)
    }

    private mutating func list(
        _ type: UInt32, of element: UInt32, _ count: Int, _ size: Int, _ write: (inout Self, Int) -> Void
    ) {
        value(type) { buffer in
            buffer.append(bigEndian: Int32(count == 0 ? 0 : 1))
            buffer.append(bigEndian: Int32(size < 0 ? 1 : 0))
            buffer.append(bigEndian: element)
            if count == 0 { return }
            buffer.append(bigEndian: Int32(count))
            buffer.append(bigEndian: Int32(1))
            for position in 0..<count {
                buffer.append(bigEndian: Int32(size))
                write(&buffer, position)
            }
        }
    }

    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
