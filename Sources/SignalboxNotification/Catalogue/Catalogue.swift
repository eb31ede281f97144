package import SignalboxJSON

/// Vendors by data: any number of them is recognised in one pass over a payload's keys.
package struct Catalogue: ChainLink {
    /// In the order that settles ties.
    let entries: [CatalogueEntry]
    /// The markers of all entries, and whose they are.
    let markers: [(entry: Int, marker: CatalogueMarker)]
    /// Where each marker's first key must stand.
    private let places: [CataloguePath.Place]
    /// The keys of each marker's first path inside the value of its first key. Every APNs payload has `aps`: without
    /// these, whoever looks inside it would be asked in full about every payload.
    private let inside: [CatalogueInnerKeys]
    private let fieldIndex: CatalogueIndex
    private let payloadIndex: CatalogueIndex

    init(_ entries: [CatalogueEntry]) {
        self.entries = entries
        markers = entries.enumerated().flatMap { position, entry in entry.markers.map { (position, $0) } }
        places = markers.map { $0.marker.conditions.first?.place ?? .anywhere }
        inside = markers.map { CatalogueInnerKeys(of: $0.marker.conditions.first) }
        let wanted = markers.enumerated().compactMap { position, marker in
            marker.marker.conditions.first.flatMap { condition in
                condition.wanted(by: position).map { (place: condition.place, wanted: $0) }
            }
        }
        fieldIndex = CatalogueIndex(wanted.filter { $0.place != .payload }.map(\.wanted))
        payloadIndex = CatalogueIndex(wanted.filter { $0.place == .payload }.map(\.wanted))
    }

    package var name: String { "catalogue" }

    package var profiles: [VendorProfile] { entries.map(\.profile) }

    /// This catalogue behind a user's own, whose entries hide those of the same vendor here.
    func behind(_ custom: Catalogue) -> Catalogue {
        let own = Set(custom.entries.map(\.vendor))
        return Catalogue(custom.entries + entries.filter { !own.contains($0.vendor) })
    }

    // MARK: Recognising

    package func recognise(_ payload: borrowing PlatformPayload, into matches: inout VendorMatches) {
        var found: [(entry: Int, detection: Detection)] = []
        forEachMarker(askedBy: payload, where: { inside[$0].lead(from: $1) }) { position in
            let (entry, marker) = markers[position]
            guard let values = marker.evidence(in: payload) else { return }
            found.append((entry, Detection(marker.strength, evidence: values.map { payload.pointer(to: $0) })))
        }
        guard !found.isEmpty else { return }
        for match in strongestOfEach(found) { matches.record(match) }
    }

    /// One match for each entry, in the catalogue's order whatever the order of the payload's keys.
    private func strongestOfEach(_ found: [(entry: Int, detection: Detection)]) -> [VendorMatch] {
        let ordered = found.sorted { left, right in
            if left.entry != right.entry { return left.entry < right.entry }
            if left.detection.strength != right.detection.strength {
                return left.detection.strength > right.detection.strength
            }
            return left.detection.evidence.lexicographicallyPrecedes(right.detection.evidence)
        }
        var matches: [VendorMatch] = []
        for (entry, detection) in ordered where matches.last?.entry != entry {
            matches.append(VendorMatch(entries[entry].vendor, detection, entry: entry))
        }
        return matches
    }

    /// Hands `body` every marker, once, whose first key the payload has where the marker wants it, with a value for
    /// which `isPossible` does not exclude the marker.
    @inline(__always)
    func forEachMarker(
        askedBy payload: borrowing PlatformPayload, where isPossible: (Int, JSONValue) -> Bool = { _, _ in true },
        _ body: (Int) -> Void
    ) {
        var asked = CatalogueMarkerSet()
        for layer in payload.fields.layers {
            for (key, value) in layer.object.members {
                fieldIndex.forEachMarker(of: key) { position in
                    guard places[position].admits(layer.reserved), isPossible(position, value), asked.insert(position)
                    else { return }
                    body(position)
                }
            }
        }
        guard !payloadIndex.isEmpty else { return }
        for (key, value) in payload.root.members {
            payloadIndex.forEachMarker(of: key) { position in
                if isPossible(position, value), asked.insert(position) { body(position) }
            }
        }
    }

    // MARK: Reading

    package func read(
        _ payload: borrowing PlatformPayload, as match: VendorMatch, into notification: inout PushNotification
    ) {
        var reading = CatalogueReading(of: entries[match.entry])
        reading.read(payload, into: &notification)
    }
}

/// The certain keys of a path behind its first one.
private struct CatalogueInnerKeys: Sendable {
    private let keys: [[UInt8]]

    init(of condition: CatalogueCondition?) {
        guard let condition, case .path(let path) = condition.subject, condition.test != .absent else {
            keys = []
            return
        }
        var keys: [[UInt8]] = []
        for token in path.tokens.dropFirst() {
            guard case .key(let key) = token else { break }
            keys.append(key)
        }
        self.keys = keys
    }

    /// False when they lead nowhere. A list or a string on the way may still hold what is looked for.
    func lead(from start: JSONValue) -> Bool {
        var value = start
        for key in keys {
            guard value.isObject else { return value.isArray || value.isString }
            guard let next = key.withUnsafeBufferPointer({ value.member($0) }) else { return false }
            value = next
        }
        return true
    }
}

extension CatalogueCondition {
    /// What of a payload's keys leads here.
    fileprivate func wanted(by marker: Int) -> CatalogueIndex.Wanted? {
        switch subject {
        case .path(let path): path.firstKey.map { .init(key: $0, isPrefix: false, marker: marker) }
        case .keyPrefix(let prefix, _): .init(key: prefix, isPrefix: true, marker: marker)
        }
    }
}

// MARK: The catalogue in the binary

extension Catalogue {
    /// The vendors that the product itself brings along.
    package static let builtIn: Catalogue = {
        let parser = JSONParser()
        var form = CatalogueForm(parser: parser)
        var entries: [CatalogueEntry] = []
        do throws(JSONError) {
            for part in parts { entries += form.entries(try parser.parse(part)) }
        } catch {
            preconditionFailure("The catalogue in the binary is no JSON: \(error)")
        }
        precondition(form.mistakes.isEmpty, "The catalogue in the binary is wrong: \(form.mistakes)")
        return Catalogue(entries)
    }()

    /// In the order that settles ties: values that name a vendor, keys of one vendor, what stands further inside or is
    /// weak (reference, section 3).
    private static var parts: [[UInt8]] {
        [
            PackageResources.catalogue_values_json, PackageResources.catalogue_keys_json,
            PackageResources.catalogue_more_keys_json, PackageResources.catalogue_nested_json,
            PackageResources.catalogue_more_nested_json,
        ]
    }

    /// The JSON Schema of an entry.
    package static var entrySchema: [UInt8] { PackageResources.detector_1_json }

    /// What is wrong in a user's own entries, the list `detectors.custom` of a config.
    package static func mistakes(in list: JSONValue, with parser: JSONParser) -> [CatalogueMistake] {
        var form = CatalogueForm(parser: parser, reserved: builtInNames)
        _ = form.entries(list)
        return form.mistakes
    }

    /// A user's own entries, in which nothing is wrong; entries that are are left out.
    package init(_ text: JSONText) {
        let parser = JSONParser()
        var form = CatalogueForm(parser: parser, reserved: Self.builtInNames)
        do throws(JSONError) {
            self.init(form.entries(try parser.parse(text.bytes)))
        } catch {
            self.init([CatalogueEntry]())
        }
    }

    /// Names that a user's entry may not take: whoever has code, and what means nobody.
    private static var builtInNames: Set<String> {
        var names: Set<String> = [VendorID.unknown.name, "catalogue"]
        for link in Vendors.all where !(link is Catalogue) { names.insert(link.name) }
        return names
    }
}

/// Something that is wrong in an entry.
package struct CatalogueMistake: Sendable, Equatable {
    /// JSON Pointer of it.
    package let pointer: String
    /// One sentence without a full stop.
    package let message: String
}
