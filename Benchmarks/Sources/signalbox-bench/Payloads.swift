import Foundation

/// The payloads of all vendors, as the tests have them: every run measures the same bytes.
struct Payloads {
    /// One payload of each vendor in turn, so that each vendor has the same share, and so have payloads without a
    /// vendor. Vendors with several payloads take turns among them, too.
    let mixed: [[UInt8]]
    /// Each payload once.
    let all: [Sample]

    /// One payload and its vendor.
    struct Sample {
        let vendor: String
        let bytes: [UInt8]
    }

    private static let fixtures = URL(fileURLWithPath: #filePath).appending(
        path: "../../../../Tests/SignalboxVendorsTests/Fixtures"
    ).standardizedFileURL

    /// `count`: the number of payloads in the mix. Throws if the fixtures of the tests cannot be read.
    init(count: Int = 20_000) throws {
        let vendors = try Self.names(in: Self.fixtures)
        let samples = try vendors.map { vendor in
            let folder = Self.fixtures.appending(path: vendor)
            return try Self.names(in: folder).filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }.map {
                Sample(vendor: vendor, bytes: Self.compact(try Data(contentsOf: folder.appending(path: $0))))
            }
        }
        .filter { !$0.isEmpty }
        guard !samples.isEmpty else { throw CocoaError(.fileReadNoSuchFile) }
        all = samples.flatMap(\.self)
        mixed = (0..<count).map { number in
            let own = samples[number % samples.count]
            return own[number / samples.count % own.count].bytes
        }
    }

    /// Bytes of a payload of the mix, on average.
    var meanSize: Int { mixed.reduce(0) { $0 + $1.count } / mixed.count }

    /// The payload whose size is nearest to the average, of those that contain a text.
    func typical(with text: String = "") -> [UInt8] {
        let sizes = all.filter { text.isEmpty || String(decoding: $0.bytes, as: UTF8.self).contains(text) }
        return sizes.min { abs($0.bytes.count - meanSize) < abs($1.bytes.count - meanSize) }?.bytes ?? []
    }

    /// Writes `count` payloads as NDJSON, in pieces: a process that is started inherits how large this one once was.
    func writeNDJSON(_ count: Int, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        for start in stride(from: 0, to: count, by: 1000) {
            let lines = (start..<min(start + 1000, count)).flatMap { mixed[$0 % mixed.count] + [UInt8(ascii: "\n")] }
            try file.write(contentsOf: Data(lines))
        }
    }

    private static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// The same JSON without the white space between its tokens, as senders write it.
    private static func compact(_ json: Data) -> [UInt8] {
        var bytes: [UInt8] = []
        var isInString = false
        var isEscaped = false
        for byte in json {
            if !isInString, byte == 0x20 || (0x09...0x0D).contains(byte) { continue }
            bytes.append(byte)
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return bytes
    }
}
