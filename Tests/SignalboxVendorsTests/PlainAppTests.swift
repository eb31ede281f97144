import Foundation
import SignalboxJSON
import Testing

@testable import SignalboxNotification

/// Payloads of plain apps whose keys look like a vendor's.
@Suite struct PlainAppTests {
    @Test func namesNoVendor() throws {
        for lookalike in try Self.all() {
            let vendor = try Normalised(lookalike.payload).notification.vendor
            #expect(vendor == .unknown, "\(lookalike.name)")
        }
    }

    @Test func everyLookalikeIsReadWithoutAWarning() throws {
        for lookalike in try Self.all() {
            let warnings = try Normalised(lookalike.payload).notification.warnings
            #expect(warnings.isEmpty, "\(lookalike.name): \(warnings.map(\.code))")
        }
    }

    /// One file holds several payloads, each named after its lookalike.
    private static func all() throws -> [(name: String, payload: [UInt8])] {
        guard let folder = Bundle.module.url(forResource: "Lookalikes", withExtension: nil) else {
            throw CocoaError(.fileNoSuchFile)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try files.flatMap { file in
            let tree = try Tree([UInt8](Data(contentsOf: folder.appendingPathComponent(file))))
            guard case .object(let members) = tree else { throw CocoaError(.fileReadCorruptFile) }
            return members.map { (file + "/" + $0, $1.bytes) }
        }
    }
}
