extension JSONParser {
    /// Parses one text with a parser of its own and calls `body` with its value. The value is valid only inside `body`.
    /// Nil for a text that is not JSON, and for one beyond the limits.
    package static func read<Result, Failure: Error>(
        _ text: [UInt8], limits: Limits = Limits(), _ body: (JSONValue) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        let parser = JSONParser(limits: limits)
        return try withExtendedLifetime(parser) { () throws(Failure) in
            guard let root = try? parser.parse(text) else { return nil }
            return try body(root)
        }
    }

    /// Reads a text of the program, which ends with a zero byte. Traps for one that is not JSON, which a test would
    /// show.
    package static func read<Result>(embedded text: UnsafePointer<CChar>, _ body: (JSONValue) -> Result) -> Result {
        guard let result = read(Array(String(cString: text).utf8), body) else {
            preconditionFailure("A text of the program is not JSON.")
        }
        return result
    }
}
