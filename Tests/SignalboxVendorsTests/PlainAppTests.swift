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

    /// Apple's own pushes without `aps` wake the system and show nothing.
    @Test(arguments: [
        #"{"mdm":"E85C0C6B-1B3C-4C6E-8B1D-5B9D3B0E7A11"}"#,
        #"{"container-identifier":"NSFileProviderWorkingSetContainerItemIdentifier","domain":"work"}"#,
    ])
    func pushesToTheSystemAreSilent(_ payload: String) throws {
        let read = try Normalised(payload).notification
        #expect(read.platform == .apns)
        #expect(read.kind == .silent)
        #expect(read.vendor == .unknown)
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
