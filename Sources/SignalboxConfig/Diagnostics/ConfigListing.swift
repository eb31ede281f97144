import SignalboxJSON

/// The values of a config as operators may see them, without secrets. Pure.
package struct ConfigListing: Sendable, Equatable {
    /// A value of a file, or the default of an option that no file sets.
    package struct Entry: Sendable, Equatable {
        /// The name of the file; nil for a default.
        package let file: String?
        /// JSON Pointer to the value. Ends with `…` at the name of an unknown option.
        package let pointer: String
        /// The value as JSON text. Masked by ``ConfigMask``.
        package let value: String
    }

    /// The values in the order of the files, then the defaults in the order of their declarations.
    package let entries: [Entry]

    /// `files`: a config that was read without errors. Leaves out the defaults of options in named objects and arrays,
    /// such as those of a destination.
    package init(_ files: [ConfigText]) {
        let values = files.flatMap { file in
            ConfigValues([file]).all.map {
                Entry(file: file.name, pointer: $0.pointer, value: $0.shown)
            }
        }
        let known = Set(values.map(\.pointer))
        entries = values + Self.defaults(GatewayConfig.options.infos, below: "", without: known)
    }

    /// The defaults of options that are neither in an array nor in an object that the operator names.
    private static func defaults(_ options: [OptionInfo], below path: String, without known: Set<String>) -> [Entry] {
        options.flatMap { option -> [Entry] in
            let pointer = "\(path)/\(JSONPointer.escape(option.key))"
            guard option.type.entry.isEmpty else { return [] }
            // A value that is written as an object or array sets the option too.
            let isSet = known.contains { $0 == pointer || (option.type.members.isEmpty && $0.hasPrefix(pointer + "/")) }
            let own = isSet ? nil : option.defaultValue.map { Entry(file: nil, pointer: pointer, value: $0.compact) }
            return [own].compactMap(\.self) + defaults(option.type.members, below: pointer, without: known)
        }
    }
}
