import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// Every proof and every signature of the catalogue needs a vendor-specific name, a value of a vendor-specific form, or
/// keys that only one vendor sends together.
@Suite struct MarkerTests {
    @Test func everyMarkerMeetsTheRule() {
        for (entry, marker) in Self.certain {
            #expect(marker.isSpecific(to: entry.vendor), "\(entry.vendor): \(marker.summary)")
        }
    }

    @Test func everyMarkerRecognisesItsOwnForm() throws {
        for (entry, marker) in Self.certain {
            let matches = try Normalised.strengths(MarkerPayload(marker).bytes)
            #expect(matches[entry.vendor] ?? .hint >= marker.strength, "\(entry.vendor): \(marker.summary)")
        }
    }

    /// A name that only one vendor uses may have any value; every other value needs its form.
    @Test(arguments: MarkerPayload.others)
    func claimsNoOtherValueWithoutASpecificName(_ other: String) throws {
        for (entry, marker) in Self.certain where !marker.hasSpecificName {
            for position in marker.conditions.indices {
                let condition = marker.conditions[position]
                guard try !condition.test.holds(ofJSON: other) else { continue }
                let matches = try Normalised.strengths(MarkerPayload(marker, replacing: position, by: other).bytes)
                #expect(matches[entry.vendor] ?? .hint == .hint, "\(entry.vendor): \(condition.summary) by \(other)")
            }
        }
    }

    /// Each of the keys that are recognised together is required, unless a remaining one is a specific name.
    @Test func claimsNoPartOfKeysThatBelongTogether() throws {
        for (entry, marker) in Self.certain where marker.conditions.count > 1 {
            for position in marker.conditions.indices {
                let rest = CatalogueMarker(
                    strength: marker.strength,
                    conditions: marker.conditions.enumerated().filter { $0.offset != position }.map(\.element))
                guard !rest.hasSpecificName else { continue }
                let matches = try Normalised.strengths(MarkerPayload(rest).bytes)
                #expect(matches[entry.vendor] ?? .hint == .hint, "\(entry.vendor): \(rest.summary)")
            }
        }
    }

    @Test(arguments: MarkerPayload.others)
    func claimsNoCommonNameAlone(_ value: String) throws {
        for name in SpecificName.common.sorted() where name != "aps" && name != "data" {
            for payload in [
                #"{"aps":{"alert":"x"},"\#(name)":\#(value)}"#, #"{"to":"t","data":{"\#(name)":\#(value)}}"#,
            ] {
                let matches = try Normalised.strengths(Array(payload.utf8))
                let certain = matches.filter { $0.value > .hint }
                #expect(certain.isEmpty, "\(payload)")
            }
        }
    }

    private static var certain: [(CatalogueEntry, CatalogueMarker)] {
        Catalogue.builtIn.entries.flatMap { entry in
            entry.markers.filter { $0.strength > .hint }.map { (entry, $0) }
        }
    }
}

extension CatalogueCondition.Test {
    fileprivate func holds(ofJSON text: String) throws -> Bool {
        let parser = JSONParser()
        guard let value = try parser.parse(Array("[\(text)]".utf8)).elements.first(where: { _ in true }) else {
            return false
        }
        return holds(of: value, in: parser)
    }
}
