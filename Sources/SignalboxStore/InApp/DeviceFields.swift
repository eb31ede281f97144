import Foundation
package import SignalboxInApp

/// The lists of a device's row and its client's state, as one BLOB. No statement searches them, and each decision
/// replaces them as a whole. The tags are part of the file format: none changes its meaning.
package enum DeviceFields {
    /// The fields of the BLOB. A reader skips unknown tags, so a former version reads the rows of a later one and
    /// drops what it does not know at its next write.
    private enum Tag {
        /// The group of ``ClientTag``; always present.
        static let client: UInt8 = 1
        /// Sessions begun in one local hour: 24 fields from midnight on, or none before the first session.
        static let sessions: UInt8 = 2
        /// The key of an answered trigger, the oldest first. Its offer follows, if it had one.
        static let answer: UInt8 = 3
        /// The field belongs to the answer before it.
        static let offer: UInt8 = 4
        /// The group of a past trigger, the oldest first.
        static let recent: UInt8 = 5
        /// The name of the device's source; missing in rows of a former version.
        static let source: UInt8 = 6
    }

    /// Writes the lists and the client's state. Columns of the row, such as the user and the times, are not part of
    /// it.
    package static func write(_ device: DeviceState) -> [UInt8] {
        var writer = FieldWriter()
        writer.add(Tag.client) { $0.write(device.client) }
        for count in device.activity { writer.add(Tag.sessions, Int64(count)) }
        for answer in device.answers {
            writer.add(Tag.answer, answer.key)
            if let offer = answer.offer { writer.add(Tag.offer, offer) }
        }
        for past in device.recent { writer.add(Tag.recent) { $0.write(past) } }
        if let source = device.source { writer.add(Tag.source, source) }
        return writer.bytes
    }

    /// Replaces the lists of `device`. Throws ``DamagedValue``.
    package static func read(_ bytes: UnsafeRawBufferPointer, into device: inout DeviceState) throws {
        try FieldContent(bytes).forEach { tag, content in
            switch tag {
            case Tag.client: device.client = try content.client()
            case Tag.sessions: device.activity.append(try content.count())
            case Tag.answer: device.answers.append(.init(key: try content.text(), offer: nil))
            case Tag.offer:
                guard let last = device.answers.indices.last else { throw FieldContent.damage }
                device.answers[last].offer = try content.text()
            case Tag.recent: device.recent.append(try content.pastTrigger())
            case Tag.source: device.source = try content.text()
            default: break
            }
        }
        guard device.activity.isEmpty || device.activity.count == 24 else { throw FieldContent.damage }
    }
}

// MARK: The client's state

/// The fields of the client's state, as the device reported it with its last trigger. A missing field is a member
/// that the client did not send.
private enum ClientTag {
    /// Bits: foreground, busy, blocks, smart delay.
    static let flags: UInt8 = 1
    /// The name of the screen.
    static let screen: UInt8 = 2
    /// A word of ``ClientState/Orientation``.
    static let orientation: UInt8 = 3
    /// A word of ``ClientState/Platform``.
    static let platform: UInt8 = 4
    /// The ids of templates that the client can render; an empty group differs from a missing one.
    static let templates: UInt8 = 5
    /// Name and state of each asset, as fields 1 and 2 in turn.
    static let assets: UInt8 = 6
    /// Names of vendors; missing for none.
    static let blockedVendors: UInt8 = 7
    /// The names of visible elements.
    static let visible: UInt8 = 8
    /// Subscriptions of the person; an empty group differs from a missing one.
    static let topics: UInt8 = 9
    /// An identifier of the IANA time zone database.
    static let zone: UInt8 = 10
}

/// Written with each trigger of the device.
extension FieldWriter {
    /// Writes the members that have a value. The order of sets is not stable, so equal states may have different
    /// bytes.
    fileprivate mutating func write(_ client: ClientState) {
        let flags = [client.foreground, client.isBusy, client.blocks, client.smartDelay]
        add(ClientTag.flags, flags.enumerated().reduce(0) { $1.element ? $0 | 1 << Int64($1.offset) : $0 })
        if let screen = client.screen { add(ClientTag.screen, screen) }
        if let orientation = client.orientation { add(ClientTag.orientation, orientation.rawValue) }
        if let platform = client.platform { add(ClientTag.platform, platform.rawValue) }
        if let templates = client.templates { add(ClientTag.templates, list: templates) }
        if let assets = client.assets {
            add(ClientTag.assets) { writer in
                for (name, state) in assets {
                    writer.add(1, name)
                    writer.add(2, state.rawValue)
                }
            }
        }
        if !client.blockedVendors.isEmpty { add(ClientTag.blockedVendors, list: client.blockedVendors) }
        if let visible = client.visible { add(ClientTag.visible, list: visible) }
        if let topics = client.topics { add(ClientTag.topics, list: topics) }
        if let zone = client.zone { add(ClientTag.zone, zone.identifier) }
    }
}

/// Read with each decision about the device.
extension FieldContent {
    /// Reads the client's state. Throws ``DamagedValue`` for a word that no version writes. A client without a field
    /// for its flags is in the background.
    fileprivate func client() throws -> ClientState {
        var client = ClientState(foreground: false)
        try forEach { tag, content in
            switch tag {
            case ClientTag.flags:
                let flags = try content.number()
                (client.foreground, client.isBusy) = (flags & 1 != 0, flags & 2 != 0)
                (client.blocks, client.smartDelay) = (flags & 4 != 0, flags & 8 != 0)
            case ClientTag.screen: client.screen = try content.text()
            case ClientTag.orientation: client.orientation = try content.word()
            case ClientTag.platform: client.platform = try content.word()
            case ClientTag.templates: client.templates = Set(try content.texts())
            case ClientTag.assets: client.assets = try content.assets()
            case ClientTag.blockedVendors: client.blockedVendors = Set(try content.texts())
            case ClientTag.visible: client.visible = Set(try content.texts())
            case ClientTag.topics: client.topics = Set(try content.texts())
            // A zone that this machine does not know counts as UTC, like a missing one.
            case ClientTag.zone: client.zone = TimeZone(identifier: try content.text())
            default: break
            }
        }
        return client
    }

    /// Throws ``DamagedValue`` for a state without a name.
    private func assets() throws -> [String: ClientState.Asset] {
        var (assets, name): ([String: ClientState.Asset], String?) = ([:], nil)
        try forEach { tag, content in
            switch tag {
            case 1: name = try content.text()
            case 2:
                guard let name else { throw Self.damage }
                assets[name] = try content.word()
            default: break
            }
        }
        return assets
    }
}
