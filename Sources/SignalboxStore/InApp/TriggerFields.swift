import SignalboxInApp

// Past triggers of a device's row. The tags are part of the file's form.

/// The fields of a past trigger.
private enum TriggerTag {
    /// When the trigger was answered, in milliseconds since 1970.
    static let at: UInt8 = 1
    /// The word of the event's kind.
    static let kind: UInt8 = 2
    /// The name of the event, product, message, screen, rule or campaign; missing for a kind without one.
    static let name: UInt8 = 3
    /// Only of a click.
    static let button: UInt8 = 4
    /// The group of all properties; missing for an event without properties, empty for an empty set.
    static let properties: UInt8 = 5
}

/// The fields of the group of properties: a name, then its value, for each property. The elements of a list are
/// values without names.
private enum ValueTag {
    /// The name of the property whose value is next.
    static let name: UInt8 = 1
    /// 0 or 1.
    static let boolean: UInt8 = 2
    /// The bits of a double (IEEE 754), least significant byte first, so every number is read back exactly.
    static let number: UInt8 = 3
    static let text: UInt8 = 4
    /// Milliseconds since 1970.
    static let date: UInt8 = 5
    /// A group of values; never within another list.
    static let list: UInt8 = 6
}

/// Past triggers and their properties.
extension FieldWriter {
    /// Writes a trigger for late definitions, which may still match it within the policy's replay time. Properties
    /// are written in the order of their dictionary, so equal triggers may have different bytes.
    mutating func write(_ past: DeviceState.PastTrigger) {
        add(TriggerTag.at, past.at)
        add(TriggerTag.kind, past.event.kind.rawValue)
        if let name = past.event.name { add(TriggerTag.name, name) }
        if case .messageClick(_, let button?) = past.event { add(TriggerTag.button, button) }
        if let properties = past.event.properties {
            add(TriggerTag.properties) { writer in
                for (name, value) in properties {
                    writer.add(ValueTag.name, name)
                    writer.write(value)
                }
            }
        }
    }

    /// Writes one value under the tag of its type.
    private mutating func write(_ value: PropertyValue) {
        switch value {
        case .boolean(let flag): add(ValueTag.boolean, flag ? 1 : 0)
        case .number(let number): add(ValueTag.number, bits: number.bitPattern)
        case .text(let text): add(ValueTag.text, text)
        case .date(let instant): add(ValueTag.date, instant)
        case .list(let elements):
            // A list inside a list is rejected with its request.
            add(ValueTag.list) { writer in for element in elements where element.kind != .list { writer.write(element) }
            }
        }
    }
}

/// The same, read back.
extension FieldContent {
    /// Throws ``DamagedValue`` for a trigger without a time, of an unknown kind, or without the name that its kind
    /// needs. Unknown tags are skipped, so a former version reads the rows of a later one.
    func pastTrigger() throws -> DeviceState.PastTrigger {
        var (at, kind, name): (Instant?, TriggerEvent.Kind?, String?) = (nil, nil, nil)
        var (button, properties): (String?, [String: PropertyValue]?) = (nil, nil)
        try forEach { tag, content in
            switch tag {
            case TriggerTag.at: at = try content.instant()
            case TriggerTag.kind: kind = TriggerEvent.Kind(rawValue: try content.text())
            case TriggerTag.name: name = try content.text()
            case TriggerTag.button: button = try content.text()
            case TriggerTag.properties: properties = try content.properties()
            default: break
            }
        }
        guard let at, let kind, let event = TriggerEvent(kind, name, button: button, properties) else {
            throw Self.damage
        }
        return DeviceState.PastTrigger(event: event, at: at)
    }

    /// Reads a group of properties. Throws ``DamagedValue`` for a value without a name.
    private func properties() throws -> [String: PropertyValue] {
        var (properties, name): ([String: PropertyValue], String?) = ([:], nil)
        try forEach { tag, content in
            if tag == ValueTag.name {
                name = try content.text()
            } else if let value = try content.value(tag, inList: false) {
                guard let name else { throw Self.damage }
                properties[name] = value
            }
        }
        return properties
    }

    /// Nil for an unknown tag. A list inside a list is damage: no request has one.
    private func value(_ tag: UInt8, inList: Bool) throws -> PropertyValue? {
        switch tag {
        case ValueTag.boolean: return .boolean(try number() != 0)
        case ValueTag.number: return .number(Double(bitPattern: try bits()))
        case ValueTag.text: return .text(try text())
        case ValueTag.date: return .date(try number())
        case ValueTag.list where !inList:
            var elements: [PropertyValue] = []
            try forEach { tag, content in
                if let element = try content.value(tag, inList: true) { elements.append(element) }
            }
            return .list(elements)
        case ValueTag.list: throw Self.damage
        default: return nil
        }
    }
}

/// Kinds are stored as the words of ``TriggerEvent/kind``.
extension TriggerEvent {
    /// The inverse of `kind`, `name` and `properties`; nil for a missing name.
    fileprivate init?(_ kind: Kind, _ name: String?, button: String?, _ properties: [String: PropertyValue]?) {
        switch (kind, name) {
        case (.sessionStart, _): self = .sessionStart
        case (.pushOpen, _): self = .pushOpen(campaign: name)
        case (.event, let name?): self = .event(name: name, properties: properties)
        case (.purchase, _): self = .purchase(product: name, properties: properties)
        case (.messageClick, let name?): self = .messageClick(message: name, button: button)
        case (.screen, let name?): self = .screen(name)
        case (.rule, let name?): self = .rule(name)
        case (.test, _): self = .test
        case (.show, let name?): self = .show(name)
        case (.poll, _): self = .poll
        case (.event, nil), (.messageClick, nil), (.screen, nil), (.rule, nil), (.show, nil): return nil
        }
    }
}
