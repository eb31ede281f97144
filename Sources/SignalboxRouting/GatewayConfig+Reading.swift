package import SignalboxJSON

extension GatewayConfig {
    /// The most files beside the config that are read with it.
    package static let mostParts = 200

    /// Reads and checks a config that is one text. Fails with every mistake found.
    package static func read(
        _ text: [UInt8], detectors: [String], sourceVendors: [String] = [],
        checkingEntries: ConfigReader.EntryCheck = { _, _ in [] }
    ) throws(InvalidConfig) -> GatewayConfig {
        try read(
            [ConfigText(name: "routes.json", bytes: text)], detectors: detectors, sourceVendors: sourceVendors,
            checkingEntries: checkingEntries)
    }

    /// Reads and checks a config: its own file, and behind it those that only add sources, destinations and routes.
    /// `detectors`: the names that `detectors.chain` may use; `sourceVendors`: those that a source's `vendor` may;
    /// `checkingEntries` finds what is wrong in the list `detectors.custom`. Fails with every mistake found in any of them;
    /// what is only odd is in ``warnings``.
    package static func read(
        _ files: [ConfigText], detectors: [String], sourceVendors: [String] = [],
        checkingEntries: ConfigReader.EntryCheck = { _, _ in [] }
    ) throws(InvalidConfig) -> GatewayConfig {
        precondition((1...mostParts + 1).contains(files.count), "A config is read from too few or too many files.")
        if let large = ConfigMistake(sizeOf: files) { throw InvalidConfig(mistakes: [large]) }
        var limits = JSONParser.Limits()
        limits.documents = mostParts + 1
        let parser = JSONParser(limits: limits)
        var roots: [JSONValue] = []
        var faults: [ConfigMistake] = []
        for (position, file) in files.enumerated() {
            do throws(JSONError) {
                roots.append(try parser.parse(file.bytes))
            } catch {
                faults.append(ConfigMistake(error, file: position, in: file.bytes))
            }
        }
        // What a file declares that cannot be read would seem to be missing in the others.
        guard faults.isEmpty else { throw InvalidConfig(mistakes: faults) }
        var reader = ConfigReader(parser: parser, roots: roots, detectors: detectors, sourceVendors: sourceVendors)
        var config = reader.config()
        if let custom = roots[0]["detectors"]?["custom"], !reader.hasTooManyEntries(custom) {
            reader.note(checkingEntries(custom, parser))
        }
        guard reader.errorCount == 0 else { throw InvalidConfig(mistakes: reader.mistakes(in: files)) }
        reader.lookOver(config)
        config.warnings = reader.mistakes(in: files)
        config.templateFiles = reader.templateFiles
        return config
    }
}

extension ConfigReader {
    /// By JSON Pointer, the keys that objects of a config that is one text may have: for comparing them with the schema.
    package static func askedKeys(
        of text: [UInt8], detectors: [String], sourceVendors: [String]
    ) throws(JSONError) -> [(pointer: String, keys: [String])] {
        let parser = JSONParser()
        var reader = ConfigReader(
            parser: parser, roots: [try parser.parse(text)], detectors: detectors, sourceVendors: sourceVendors)
        _ = reader.config()
        return reader.askedKeys.map { (parser.pointer(to: $0.object), $0.keys) }
    }

    /// What was found, with its places in the texts.
    func mistakes(in files: [ConfigText]) -> [ConfigMistake] {
        findings.map { finding in
            let text = files[finding.place.file].bytes
            var mistake = ConfigMistake(
                finding.severity, file: finding.place.file, pointer: finding.place.pointer,
                place: finding.place.range(in: text), in: text, message: finding.message)
            mistake.mayBeSecret = finding.mayBeSecret
            mistake.notes = finding.notes.compactMap { place, message in
                place.range(in: files[place.file].bytes).map {
                    ConfigMistake.Note(file: place.file, place: $0, message: message)
                }
            }
            return mistake
        }
    }
}

extension ConfigReader.Place {
    fileprivate func range(in text: [UInt8]) -> Range<Int>? {
        let place = JSONPosition(of: pointer, in: text)
        return isKey ? place?.key ?? place?.value : place?.value
    }
}
