import SignalboxJSON

/// An input cut into pieces; lines that were taken whole and hold more than one text are cut again, as the
/// pipeline does.
struct Cut {
    struct Piece: Equatable, CustomStringConvertible {
        let bytes: [UInt8]
        let line: Int
        let offset: Int
        let fault: JSONSplitter.Fault?

        var text: String { String(decoding: bytes, as: UTF8.self) }

        var description: String {
            "\(line)@\(offset) \(fault.map { "\($0) " } ?? "")\(String(reflecting: text))"
        }
    }

    private(set) var pieces: [Piece] = []
    private(set) var isArray = false

    /// `chunks`: sizes of the parts that are appended; the rest follows as one part. Without chunks, the input is
    /// appended as one array and taken once.
    init(_ input: [UInt8], chunks: [Int] = [], limit: Int = 4096) {
        var splitter = JSONSplitter(limit: limit)
        if chunks.isEmpty {
            splitter.append(input)
            splitter.finish()
            take(from: &splitter, limit)
            precondition(splitter.takeAll().pieces.isEmpty, "Each piece is taken once.")
            isArray = splitter.isArray
            return
        }
        var position = 0
        for size in chunks + [input.count] {
            let end = min(position + size, input.count)
            input[position..<end].withUnsafeBytes { splitter.append($0) }
            position = end
            take(from: &splitter, limit)
        }
        splitter.finish()
        take(from: &splitter, limit)
        isArray = splitter.isArray
    }

    init(_ input: String, chunks: [Int] = [], limit: Int = 4096) {
        self.init(Array(input.utf8), chunks: chunks, limit: limit)
    }

    private mutating func take(from splitter: inout JSONSplitter, _ limit: Int) {
        let taken = splitter.takeAll()
        for piece in taken.pieces {
            let bytes = Array(taken.bytes[piece.range])
            if piece.isLine, (try? JSONParser().parse(bytes)) == nil {
                var again = JSONSplitter(limit: limit, takesLines: false, line: piece.line, offset: piece.offset)
                bytes.withUnsafeBytes { again.append($0) }
                again.finish()
                take(from: &again, limit)
            } else {
                pieces.append(Piece(bytes: bytes, line: piece.line, offset: piece.offset, fault: piece.fault))
            }
        }
    }

    /// The valid texts.
    var sound: [String] { pieces.filter { $0.fault == nil && Self.isSound($0.bytes) }.map(\.text) }

    /// Each piece as its line, its state (`ok`, `damaged` or the fault) and its text.
    var summary: [String] {
        pieces.map { piece in
            let state = piece.fault.map { "\($0)" } ?? (Self.isSound(piece.bytes) ? "ok" : "damaged")
            return "\(piece.line) \(state) \(piece.text)"
        }
    }

    private static func isSound(_ bytes: [UInt8]) -> Bool { (try? JSONParser().parse(bytes)) != nil }
}
