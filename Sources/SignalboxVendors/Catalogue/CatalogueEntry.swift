import SignalboxModel

/// A vendor by data alone: how it is known, and where its payloads say what.
struct CatalogueEntry: Sendable {
    let vendor: VendorID
    /// As the vendor writes it.
    let name: String
    /// Where this was read.
    let source: String
    /// How far to trust it: the marks of the source, in words of the entry's author.
    let confidence: String
    /// None for a vendor that leaves no trace in a payload.
    let markers: [CatalogueMarker]
    let fields: CatalogueFields
    /// The keys on which markers and paths look, and those that the entry names besides: not the app's own.
    let claims: [CatalogueClaim]
    /// Objects whose members are the app's own, those left out that other paths read.
    let custom: [CatalogueOwnObject]
    /// Whether it looks among the push service's own keys: then nobody can say which of them are left over.
    let readsPlatform: Bool

    init(
        vendor: VendorID, name: String, source: String, confidence: String, markers: [CatalogueMarker],
        fields: CatalogueFields
    ) {
        self.vendor = vendor
        self.name = name
        self.source = source
        self.confidence = confidence
        self.markers = markers
        self.fields = fields
        readsPlatform = fields.paths.contains { $0.place == .payload || $0.firstKey == Array("aps".utf8) }
        custom = fields.custom.map { CatalogueOwnObject(at: $0, among: fields.paths) }
        let conditions = markers.filter { $0.strength > .hint }.flatMap(\.conditions) + fields.silent + fields.control
        claims = Set(fields.claims + fields.paths.compactMap(\.claim) + conditions.compactMap(\.claim))
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }
}

/// An object that a vendor keeps for the app, and which of its members are the vendor's all the same.
struct CatalogueOwnObject: Sendable {
    let path: CataloguePath
    let taken: Set<[UInt8]>

    fileprivate init(at path: CataloguePath, among others: CataloguePaths) {
        self.path = path
        let depth = path.tokens.count
        let inside = others.filter { $0.tokens.count > depth && $0.tokens.prefix(depth) == path.tokens[...] }
        taken = Set(
            inside.compactMap { other in
                if case .key(let key) = other.tokens[depth] { key } else { nil }
            })
    }

    func isTaken(_ key: UnsafeBufferPointer<UInt8>) -> Bool { !taken.isEmpty && taken.contains(Array(key)) }
}

/// Alternatives, of which the first that yields counts.
typealias CataloguePaths = [CataloguePath]

/// What a tap does: where it leads, or the vendor's word for it.
struct CatalogueTap: Sendable {
    var link: CataloguePaths = []
    var word: CataloguePaths = []
    /// What the vendor's words mean.
    var types: [String: Action.ActionType] = [:]
}

/// Where a vendor's payload says what.
struct CatalogueFields: Sendable {
    var title: CataloguePaths = []
    var subtitle: CataloguePaths = []
    var body: CataloguePaths = []
    var vendorKind: CataloguePaths = []
    var tap = CatalogueTap()
    /// Each is read; within one, alternatives.
    var media: [MediaField] = []
    /// The first that yields counts.
    var buttons: [ButtonsField] = []
    var carousel: [CarouselField] = []
    var campaign = CampaignField()
    /// Any of these makes the push silent, whatever it says.
    var silent: [CatalogueCondition] = []
    /// Any of these makes it the vendor's own housekeeping.
    var control: [CatalogueCondition] = []
    /// Objects whose members are the app's own.
    var custom: CataloguePaths = []
    /// Keys that are the vendor's beyond those in paths and markers.
    var claims: [CatalogueClaim] = []

    /// Every path that begins among the vendor's keys.
    fileprivate var paths: CataloguePaths {
        let texts = title + subtitle + body + vendorKind + custom + tap.link + tap.word
        let campaigns = campaign.id + campaign.name + campaign.type + campaign.variant + campaign.messageId
        let pictures = media.flatMap { $0.url + $0.type }
        let counted = buttons.filter(\.list.isEmpty).flatMap { $0.identifier + $0.title + $0.tap.link + $0.tap.word }
        let items = carousel.filter(\.list.isEmpty).flatMap { $0.url + $0.caption + $0.subcaption + $0.link }
        return texts + campaigns + pictures + counted + items + buttons.flatMap(\.list) + carousel.flatMap(\.list)
    }

    struct MediaField: Sendable {
        var url: CataloguePaths = []
        /// A MIME type or a file's extension.
        var type: CataloguePaths = []
        var role = Media.Role.attachment
        var first = 0
    }

    struct ButtonsField: Sendable {
        var list: CataloguePaths = []
        var first = 0
        /// More are not shown by the vendor's SDK.
        var most = longestList
        /// What the SDK wants of a button that it shows.
        var needs: CataloguePaths = []
        var identifier: CataloguePaths = []
        var title: CataloguePaths = []
        var tap = CatalogueTap()
        var options: [(Category.Options, CatalogueCondition)] = []
        var textInput: CatalogueCondition?
        var placeholder: CataloguePaths = []
        var inputButton: CataloguePaths = []
    }

    struct CarouselField: Sendable {
        var list: CataloguePaths = []
        var first = 0
        var url: CataloguePaths = []
        var caption: CataloguePaths = []
        var subcaption: CataloguePaths = []
        var link: CataloguePaths = []
    }

    struct CampaignField: Sendable {
        var id: CataloguePaths = []
        var name: CataloguePaths = []
        var type: CataloguePaths = []
        var variant: CataloguePaths = []
        var messageId: CataloguePaths = []
        /// The identifier is a number, however it is spelled.
        var isNumeric = false
    }
}

/// A key, or all keys with a prefix, that belong to a vendor.
struct CatalogueClaim: Sendable, Hashable {
    let key: [UInt8]
    let isPrefix: Bool
    let place: CataloguePath.Place

    func covers(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        (isPrefix || other.count == key.count) && other.starts(with: key)
    }
}

extension CataloguePath {
    /// The vendor's key in which this path begins.
    fileprivate var claim: CatalogueClaim? {
        guard place != .payload else { return nil }
        switch tokens[0] {
        case .key(let key): return CatalogueClaim(key: key, isPrefix: false, place: place)
        case .counted(let before, _): return CatalogueClaim(key: before, isPrefix: true, place: place)
        case .each: return nil
        }
    }
}

extension CatalogueCondition {
    fileprivate var claim: CatalogueClaim? {
        switch subject {
        case .path(let path): path.claim
        case .keyPrefix(let prefix, let place): CatalogueClaim(key: prefix, isPrefix: true, place: place)
        }
    }
}
