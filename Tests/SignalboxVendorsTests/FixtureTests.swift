import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct FixtureTests {
    /// The message of a warning is for people and may change; its code and path may not.
    @Test(arguments: try Fixture.all(in: .module))
    func readsEveryFixtureAsExpected(_ fixture: Fixture) throws {
        let read = try Normalised(fixture)
        let differences = try JSONDifference.lines(
            expected: fixture.expected, actual: read.json, optional: ["message"])
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    @Test func registryAndFixturesNameTheSameVendors() throws {
        // Vendors with hints only, or without evidence, never win.
        let nameless = ["firebase-campaigns", "azure-notification-hubs"]
        let vendors = (Vendors.profiles.map(\.vendor.name) + [VendorID.unknown.name]).filter { !nameless.contains($0) }
        #expect(vendors.sorted() == (try Fixture.folders(in: .module)))
    }

    @Test(arguments: try Fixture.all(in: .module))
    func noFixtureIsClaimedByTwoVendorsWithEqualStrength(_ fixture: Fixture) throws {
        let strengths = try Normalised.strengths(fixture.input)
        guard let own = strengths[VendorID(fixture.folder)] else {
            #expect(fixture.folder == VendorID.unknown.name || Vendors.namedBySource.contains(fixture.folder))
            return #expect(strengths.values.allSatisfy { $0 == .hint })
        }
        #expect(own > .hint)
        for (vendor, strength) in strengths where vendor.name != fixture.folder { #expect(strength < own) }
    }

    @Test(arguments: try Fixture.all(in: .module))
    func warningsHaveACodeOfTheirComponentAndASentence(_ fixture: Fixture) throws {
        let components = ["json", "apns", "fcm", fixture.folder]
        for warning in try Normalised(fixture).notification.warnings {
            let component = warning.code.prefix { $0 != "." }
            #expect(components.contains(String(component)))
            #expect(warning.message.hasSuffix("."))
            #expect(warning.path.isEmpty || warning.path.hasPrefix("/"))
        }
    }

    /// The strongest evidence wins in every order of the chain.
    @Test(arguments: try Fixture.all(in: .module))
    func theOrderOfTheChainDoesNotMatterForFixtures(_ fixture: Fixture) throws {
        let reversed = try VendorChain(named: Vendors.names.reversed())
        #expect(
            try Normalised(fixture, by: reversed).notification.vendor
                == Normalised(fixture).notification.vendor)
    }
}
