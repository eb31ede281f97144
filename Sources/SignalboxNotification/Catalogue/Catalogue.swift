internal import CResources
package import SignalboxJSON

/// Vendors defined by data: recognises any number of them in one pass over a payload's keys. The time does not depend
/// on the number of entries, except for those that share a payload's keys. Immutable: tasks share it. A link of
/// ``VendorChain``; its vendors compete with those that have code.
package struct Catalogue: ChainLink {
    /// In the order that settles ties.
    let entries: [CatalogueEntry]
    /// The markers of all entries, each with the position of its entry.
    let markers: [(entry: Int, marker: CatalogueMarker)]
    /// The conditions that rule out most markers, in the order of ``markers``.
    private let gates: [CatalogueGate]
    /// Markers that search the vendors' keys.
    private let fieldIndex: CatalogueIndex
    /// Markers that search the whole payload.
    private let payloadIndex: CatalogueIndex

    /// Builds the indexes of the entries' markers. Takes time that grows with the markers; the built-in catalogue is
    /// made once per process.
    init(_ entries: [CatalogueEntry]) {
        self.entries = entries
        markers = entries.enumerated().flatMap { position, entry in entry.markers.map { (position, $0) } }
        gates = markers.map { CatalogueGate(of: $0.marker) }
        let indexed = markers.enumerated().compactMap { position, marker in
            marker.marker.conditions.first?.indexEntry(for: position)
        }
        let scopes = markers.map { $0.marker.conditions.first?.scope }
        fieldIndex = CatalogueIndex(indexed.filter { scopes[$0.marker] != .payload })
        payloadIndex = CatalogueIndex(indexed.filter { scopes[$0.marker] == .payload })
    }

    /// The name of the link in `detectors.chain`. Custom entries are part of it.
    static let linkName = "catalogue"

    package var name: String { Self.linkName }

    /// In the order that settles ties.
    package var vendors: [VendorID] { entries.map(\.vendor) }

    /// In the order that settles ties.
    package var profiles: [VendorProfile] { entries.map(\.profile) }

    /// This catalogue after a user's own, whose entries replace those of the same vendor. Builds the indexes again.
    /// The user's entries settle ties first.
    func behind(_ custom: Catalogue) -> Catalogue {
        let own = Set(custom.entries.map(\.vendor))
        return Catalogue(custom.entries + entries.filter { !own.contains($0.vendor) })
    }

    // MARK: Recognising

    /// Records one match for each vendor with evidence: its strongest. The matches are in the catalogue's order,
    /// independently of the order of the payload's keys.
    package func recognise(_ payload: borrowing PlatformPayload, into matches: inout VendorMatches) {
        var found = CatalogueEvidence()
        var latest: JSONObject?
        forEachMarker(indexedFor: payload, where: { gates[$0].admits($1, in: payload.fields, &latest) }) { position in
            found.test(markers[position].marker, of: markers[position].entry, in: payload)
        }
        found.forEachEntry(in: payload) { entry, detection in
            matches.record(VendorMatch(entries[entry].vendor, detection, entry: entry))
        }
    }

    /// Calls `body` once with every marker whose first key is in the marker's scope of the payload. `isPossible`
    /// excludes a marker by the value of that key. Every marker at most once per payload. The order is that of the
    /// payload's keys.
    @inline(__always)
    func forEachMarker(
        indexedFor payload: borrowing PlatformPayload, where isPossible: (Int, JSONValue) -> Bool = { _, _ in true },
        _ body: (Int) -> Void
    ) {
        var seen = CatalogueMarkerSet()
        for layer in payload.fields.layers {
            for (key, value) in layer.object.members {
                fieldIndex.forEachMarker(of: key) { position in
                    guard gates[position].scope.admits(layer.reserved), isPossible(position, value) else { return }
                    if seen.insert(position) { body(position) }
                }
            }
        }
        guard !payloadIndex.isEmpty else { return }
        for (key, value) in payload.root.members {
            payloadIndex.forEachMarker(of: key) { position in
                if isPossible(position, value), seen.insert(position) { body(position) }
            }
        }
    }

    // MARK: Reading

    /// `match`: of this catalogue, because its entry is a position in ``entries``.
    package func read(
        _ payload: borrowing PlatformPayload, as match: VendorMatch, into notification: inout PushNotification
    ) {
        var reading = CatalogueReading(of: entries[match.entry], in: payload)
        reading.read(payload, into: &notification)
    }

    /// Includes the tokens of a vendor with a hint only: its token is secret even if another vendor wins. Returns
    /// copies.
    package func deviceTokens(
        in payload: borrowing PlatformPayload, matchedBy match: VendorMatch, withSecrets: Bool
    ) -> [DeviceToken] {
        let tokens = tokens(at: entries[match.entry].fields.tokens, in: payload)
        return withSecrets ? tokens + self.tokens(at: entries[match.entry].fields.secrets, in: payload) : tokens
    }

    /// The texts at paths, under the last key of their path, and those inside the objects and arrays there.
    private func tokens(at paths: CataloguePaths, in payload: borrowing PlatformPayload) -> [DeviceToken] {
        var tokens: [DeviceToken] = []
        guard payload.mayHave(paths) else { return tokens }
        for path in paths.all {
            guard let key = path.lastKey else { continue }
            for value in payload.valuesInEveryLayer(at: path) { addTexts(in: value, under: key, to: &tokens) }
        }
        return tokens
    }

    /// Adds the text of a value, or those inside an object or array, under the keys of their members. Reads the first
    /// ``longestList`` of them. The parser has limited the nesting.
    private func addTexts(in value: JSONValue, under key: [UInt8], to tokens: inout [DeviceToken]) {
        if let text = value.utf8, !text.isEmpty { tokens.append(DeviceToken(key: key, text: Array(text))) }
        for element in value.elements.prefix(longestList) { addTexts(in: element, under: key, to: &tokens) }
        for (key, member) in value.members.prefix(longestList) {
            addTexts(in: member, under: Array(key), to: &tokens)
        }
    }
}

/// The parts of a condition that the index files it under.
extension CatalogueCondition {
    /// The first key, or the key prefix, for the index.
    fileprivate func indexEntry(for marker: Int) -> CatalogueIndex.Entry? {
        switch subject {
        case .path(let path): path.firstKey.map { .init(key: $0, isPrefix: false, marker: marker) }
        case .keyPrefix(let prefix, _): .init(key: prefix, isPrefix: true, marker: marker)
        }
    }
}

// MARK: Entries in files

/// The built-in entries, and those of a config. Both have the form of `detector-1.json`.
extension Catalogue {
    /// The built-in entries. Read at the first use, from six JSON files in the binary. Traps if they have a mistake,
    /// which a test would find.
    package static let builtIn: Catalogue = {
        // In the order that settles ties: values that name a vendor, keys of one vendor, nested or weak evidence,
        // vendors that were added later.
        let parts = [
            sb_catalogue_values_json(), sb_catalogue_keys_json(),
            sb_catalogue_more_keys_json(), sb_catalogue_nested_json(),
            sb_catalogue_more_nested_json(), sb_catalogue_further_json(),
        ]
        let parser = JSONParser()
        var form = CatalogueForm(parser: parser)
        var entries: [CatalogueEntry] = []
        do throws(JSONError) {
            for part in parts { entries += form.entries(try parser.parse(Array(String(cString: part).utf8))) }
        } catch { preconditionFailure("The catalogue in the binary is not valid JSON: \(error)") }
        precondition(form.mistakes.isEmpty, "The catalogue in the binary has mistakes: \(form.mistakes)")
        return Catalogue(entries)
    }()

    /// The JSON Schema of an entry, UTF-8. Version 2020-12. `signalbox schema detector` prints it.
    package static var entrySchema: [UInt8] { Array(String(cString: sb_detector_1_json()).utf8) }

    /// The mistakes in a user's own entries, the list `detectors.custom` of a config. At most 100. `parser`: the
    /// owner of `list`.
    package static func mistakes(in list: JSONValue, with parser: JSONParser) -> [CatalogueMistake] {
        var form = CatalogueForm(parser: parser, reserved: builtInNames)
        _ = form.entries(list)
        return form.mistakes
    }

    /// A user's own entries, the list `detectors.custom` of a config; unreadable ones are left out. For a list
    /// without mistakes; a config with mistakes is not used.
    package init(_ text: JSONText) {
        let parser = JSONParser()
        var form = CatalogueForm(parser: parser, reserved: Self.builtInNames)
        do throws(JSONError) {
            self.init(form.entries(try parser.parse(text.bytes)))
        } catch { self.init([CatalogueEntry]()) }
    }

    /// Names that a user's entry must not use: the vendors with code, and the names of no vendor.
    private static var builtInNames: Set<String> { Set(Vendors.names + [VendorID.unknown.name]) }
}
