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
    /// Without what a payload's version forbids to read, once a reading has begun.
    var fields: CatalogueFields
}

/// Alternatives, of which the first that yields counts.
typealias CataloguePaths = [CataloguePath]

/// What a tap does: where it leads, or the vendor's word for it.
struct CatalogueTap: Sendable {
    var link: CataloguePaths = []
    /// A link that opens inside the app. It has precedence over the other link.
    var webView: CataloguePaths = []
    var word: CataloguePaths = []
    /// What the vendor's words mean.
    var types: [String: Action.ActionType] = [:]
    /// An object for whoever handles the vendor's word.
    var arguments: CataloguePaths = []
}

/// Where a vendor's payload says what.
struct CatalogueFields: Sendable {
    var title: CataloguePaths = []
    var subtitle: CataloguePaths = []
    var body: CataloguePaths = []
    var sound: CataloguePaths = []
    var badge: CataloguePaths = []
    /// Android's notification channel.
    var channel: CataloguePaths = []
    /// The identifier of a set of buttons that the app defines.
    var category: CataloguePaths = []
    /// The tag by which a notification replaces an earlier one on the device.
    var tag: CataloguePaths = []
    var vendorKind: CataloguePaths = []
    var tap = CatalogueTap()
    /// Each is read; within one, alternatives.
    var media: [MediaField] = []
    /// The first that yields counts.
    var buttons: [ButtonsField] = []
    var carousel: [CarouselField] = []
    var campaign = CampaignField()
    var schedule = ScheduleField()
    /// Any of these makes the push silent, whatever it says.
    var silent: [CatalogueCondition] = []
    /// Any of these makes it the vendor's own housekeeping.
    var control: [CatalogueCondition] = []
    /// If any of these holds, the push is a state of a Live Activity, or of a live update on Android.
    var liveActivity: [CatalogueCondition] = []
    /// What is not read when something holds, such as a version that the vendor's SDK does not know.
    var ignored: [IgnoredField] = []
    /// Values that must not be in the event, such as credentials.
    var secrets: CataloguePaths = []
    /// Device tokens and push addresses, which events contain as keyed hashes only.
    var tokens: CataloguePaths = []
    /// Objects whose members are the app's own, and stand in `custom` under their own names.
    var custom: CataloguePaths = []

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
        /// A button is not shown if all conditions of one of these lists hold for it.
        var drops: [[CatalogueCondition]] = []
        var identifier: CataloguePaths = []
        var title: CataloguePaths = []
        var tap = CatalogueTap()
        var options: [(Category.Options, CatalogueCondition)] = []
        var textInput: CatalogueCondition?
        var placeholder: CataloguePaths = []
        var inputButton: CataloguePaths = []
    }

    struct IgnoredField: Sendable {
        let under: CataloguePath
        let condition: CatalogueCondition
    }

    struct CarouselField: Sendable {
        /// `portrait` or `landscape`.
        var orientation: CataloguePaths = []
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
    /// When the vendor wants it shown; instants as ``JSONValue/instant`` reads them.
    struct ScheduleField: Sendable {
        var notBefore: CataloguePaths = []
        var notAfter: CataloguePaths = []
    }
}
