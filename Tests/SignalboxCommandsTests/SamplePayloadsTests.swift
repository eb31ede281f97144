import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import Testing

struct SamplePayloadsTests {
    @Test func everyRecognisedVendorHasAnExample() {
        let names = Set(SamplePayloads.vendors.map(\.name))
        // Payloads of these services are those of the platforms, so they are not recognised.
        let unrecognised: Set = ["azure-notification-hubs", "firebase-campaigns"]
        let recognised = Set(Vendors.profiles.map(\.vendor.name)).subtracting(unrecognised)
        #expect(names == recognised.union([VendorID.unknown.name]))
        #expect(SamplePayloads.vendors.count == names.count)
        #expect(SamplePayloads.vendors.allSatisfy { !$0.payloads.isEmpty })
    }

    @Test(arguments: SamplePayloads.vendors.map(\.name)) func examplesAreOfTheirVendorAndKind(_ name: String) throws {
        let config = GatewayConfig()
        let normalizer = Normalizer(
            chain: config.vendorChain, gateway: "test", tokens: TokenHash(key: [1]), registersMessages: false,
            mediaStatus: .skipped, actions: config.actions, categories: config.categories.statics)
        let vendor = try #require(SamplePayloads.vendors.first { $0.name == name })
        // Payloads of these vendors carry no evidence; the config names the vendor of their source.
        let ofSource = Vendors.namedBySource.contains(name) ? VendorID(name) : nil
        for (kind, payload) in vendor.payloads {
            let event = try payload.bytes.withUnsafeBufferPointer {
                try normalizer.event(
                    $0, as: Reception(from: .default, at: Date(), vendor: ofSource), at: PayloadPosition(),
                    with: Normalizer.makeParser())
            }
            #expect(
                event.vendor.name == name && event.kind.rawValue == kind,
                "\(name) \(kind): \(event.vendor)/\(event.kind)")
        }
    }

    @Test func takesTheUsualKindUnlessOneIsNamed() throws {
        let usual = try SamplePayloads.payload(of: "braze", nil)
        #expect(try SamplePayloads.payload(of: "braze", "alert") == usual)
        #expect(try SamplePayloads.payload(of: "braze", "silent") != usual)
    }

    @Test func unknownVendorsAndKindsAreRefusedWithTheNearestName() {
        #expect(throws: CommandFailure.refused("Unknown vendor \"brase\". Did you mean \"braze\"?")) {
            try SamplePayloads.payload(of: "brase", nil)
        }
        #expect(throws: CommandFailure.refused("Unknown kind \"alrt\". Did you mean \"alert\"?")) {
            try SamplePayloads.payload(of: "braze", "alrt")
        }
    }
}
