import Synchronization

/// A vendor defined by data alone: its evidence, and the paths of its values. Immutable once read. A detector with
/// code can read more, such as values that depend on each other.
///
/// A class although it is immutable: every reading holds its entry, and a copy would count a reference for each field.
final class CatalogueEntry: Sendable {
    /// The name in events. Unique in a catalogue.
    let vendor: VendorID
    /// The vendor's own spelling.
    let name: String
    /// The publication that documents the entry.
    let source: String
    /// Reliability of the source, in the words of the entry's author.
    let confidence: String
    /// Empty for a vendor whose payloads contain no evidence. The strongest that matches decides the strength of the
    /// vendor.
    let markers: [CatalogueMarker]
    /// The paths; while a payload is read, without those that an ``IgnoredField`` excludes.
    let fields: CatalogueFields
    /// The conditions of the markers that determine a value: the vendor's name in the event makes it redundant.
    let redundant: [CatalogueCondition]
    /// The entry without the paths of rules of ``CatalogueFields/ignored``, by their positions.
    private let reductions = Mutex<[[Int]: CatalogueEntry]>([:])
    /// The most kept reductions: a sender could make payloads for any combination of rules.
    private static let mostReductions = 32

    /// The parts of an entry as the catalogue's file has them.
    init(
        vendor: VendorID, name: String, source: String, confidence: String, markers: [CatalogueMarker],
        fields: CatalogueFields
    ) {
        (self.vendor, self.name, self.source) = (vendor, name, source)
        (self.confidence, self.markers, self.fields) = (confidence, markers, fields)
        redundant = markers.flatMap(\.conditions).filter(\.test.determinesValue)
    }

    /// The same entry without the paths of rules of ``CatalogueFields/ignored``. `rules`: their positions in ascending
    /// order, at least one. Most payloads of a vendor need the same few entries, which are made once.
    func ignoring(_ rules: [Int]) -> CatalogueEntry {
        if let known = reductions.withLock({ $0[rules] }) { return known }
        var rest = fields
        rest.ignored = []
        for rule in rules { rest.ignore(fields.ignored[rule].under) }
        let entry = CatalogueEntry(
            vendor: vendor, name: name, source: source, confidence: confidence, markers: markers, fields: rest)
        reductions.withLock { if $0.count < Self.mostReductions { $0[rules] = entry } }
        return entry
    }
}

/// The effect of a tap: its link, or the vendor's word for it. Each list of paths has alternatives; the first with a
/// value counts.
struct CatalogueTap: Sendable {
    /// A link of any scheme.
    var link: CataloguePaths = []
    /// A link that opens inside the app. It has precedence over the other link.
    var webView: CataloguePaths = []
    /// The identifier of a message in the vendor's inbox. Any link has precedence over it.
    var richContent: CataloguePaths = []
    /// The vendor's word for the effect.
    var word: CataloguePaths = []
    /// The meanings of the vendor's words. If the map has words, any other word becomes `custom`. Without words, the
    /// link decides.
    var types: [String: Action.ActionType] = [:]
    /// The meanings of whole links that the vendor's SDK carries out itself. Any other link is opened.
    var links: [String: Action.ActionType] = [:]
    /// An object with the parameters of a word without a known meaning.
    var arguments: CataloguePaths = []
}

/// The paths of a vendor's values. Each list of paths has alternatives, the first of which with a usable value
/// counts. An empty list means that the vendor has no such value.
struct CatalogueFields: Sendable {
    /// The title of the notification, or of FCM's data.
    var title: CataloguePaths = []
    /// The subtitle, or a summary.
    var subtitle: CataloguePaths = []
    /// The text.
    var body: CataloguePaths = []
    /// The name of a sound.
    var sound: CataloguePaths = []
    /// The condition under which the sound is the device's default. Nil for a vendor that always names the sound.
    var defaultSound: CatalogueCondition?
    /// A number of 0 or more; relative badges are not read.
    var badge: CataloguePaths = []
    /// The identifier of the group in which Apple's devices show the notification.
    var threadId: CataloguePaths = []
    /// The interruption level of Apple's notifications, in Apple's words.
    var interruptionLevel: CataloguePaths = []
    /// Android's notification channel.
    var channel: CataloguePaths = []
    /// The identifier of a set of buttons that the app defines.
    var category: CataloguePaths = []
    /// The tag by which a notification replaces an earlier one on the device.
    var tag: CataloguePaths = []
    /// The vendor's word for the kind of push.
    var vendorKind: CataloguePaths = []
    /// The effect of a tap on the notification itself.
    var tap = CatalogueTap()
    /// Precedes a percent-encoded link, also of buttons and pictures. Links that do not begin with it are used as they
    /// are. Nil for a vendor that does not wrap links.
    var linkPrefix: String?
    /// If any of these holds, white space around links is removed, also of buttons and pictures.
    var trimsLinks: [CatalogueCondition] = []
    /// Strings with the Base64 of a JSON text. Paths continue inside them, as in a string with a JSON text.
    var base64: CataloguePaths = []
    /// Every field is read; each consists of alternatives.
    var media: [MediaField] = []
    /// The first field with a button counts, and those that ``ButtonsField/joins`` adds to it.
    var buttons: [ButtonsField] = []
    /// The first field with a picture counts.
    var carousel: [CarouselField] = []
    /// Members without a path stay absent in the event.
    var campaign = CampaignField()
    /// Instants as ``JSONValue/instant`` reads them.
    var notBefore: CataloguePaths = []
    /// The end of the period, as ``notBefore``.
    var notAfter: CataloguePaths = []
    /// Unless one of these holds, the vendor's SDK makes no notification of the vendor's texts. The push service may
    /// still show its own. Empty for an SDK that shows every text.
    var shown: [CatalogueCondition] = []
    /// If any of these holds, the vendor's SDK shows a notification even without a text. Tested after ``silent``.
    var alert: [CatalogueCondition] = []
    /// If any of these holds, the push is silent, even with a text. Tested after ``control`` and ``liveActivity``.
    var silent: [CatalogueCondition] = []
    /// If any of these holds, the push is the vendor's own housekeeping. Tested first.
    var control: [CatalogueCondition] = []
    /// If any of these holds, the push is a state of a Live Activity, or of a live update on Android.
    var liveActivity: [CatalogueCondition] = []
    /// Paths that are not read if conditions hold, such as a version that the vendor's SDK does not support.
    var ignored: [IgnoredField] = []
    /// Values that events must not contain, such as credentials. Left out of the event's data.
    var secrets: CataloguePaths = []
    /// Device tokens and push addresses, which events contain as keyed hashes only.
    var tokens: CataloguePaths = []
    /// Objects whose members are the app's own and appear in `custom` under their own names.
    var custom: CataloguePaths = []

    /// Image, audio or video files with one role. A counted path is read up to the first gap, at most 100 elements.
    struct MediaField: Sendable {
        /// A URL, or a list of URLs. Other texts, such as the names of the app's own pictures, are not read.
        var url: CataloguePaths = []
        /// A MIME type, or the extension of a file's name.
        var type: CataloguePaths = []
        /// The role of every file of this field in the event.
        var role = Media.Role.attachment
        /// The first number for `{i}`.
        var first = 0
    }

    /// Buttons: the elements of a list or object, parts whose keys count up, or a single one. Paths lead from the
    /// element, or from the payload. Elements beyond ``most`` are dropped, as the SDK drops them.
    struct ButtonsField: Sendable {
        /// The list or object; empty for parts whose keys count up.
        var list: CataloguePaths = []
        /// The first number for `{i}`.
        var first = 0
        /// The most buttons that the vendor's SDK shows.
        var most = longestList
        /// The buttons follow those of the fields before it; otherwise a field is read only if there is none yet.
        var joins = false
        /// The identifier of a single button, which the vendor's SDK defines. Not for a list.
        var fixedIdentifier: String?
        /// Values that the SDK requires of a button.
        var needs: CataloguePaths = []
        /// The SDK does not show a button if all conditions of one of these lists hold for it.
        var drops: [[CatalogueCondition]] = []
        /// The button's identifier. Without one, its key in an object, or its action identifies it.
        var identifier: CataloguePaths = []
        /// The button's title.
        var title: CataloguePaths = []
        /// The effect of a tap on the button; without one, it opens the app.
        var tap = CatalogueTap()
        /// The options, each with a condition under which the button has it. Any of several conditions suffices.
        var options: [(Category.Options, CatalogueCondition)] = []
        /// The condition under which the button asks for text.
        var textInput: CatalogueCondition?
        /// The hint in the empty field.
        var placeholder: CataloguePaths = []
        /// The title of the button that sends the text.
        var inputButton: CataloguePaths = []

        /// There is no button unless one of these paths has a value. With a path of titles, a button without a title
        /// ends the buttons whose keys count up.
        var source: CataloguePaths {
            if list.isEmpty { title.isEmpty ? identifier : title } else { list }
        }

        /// True with a list, with parts whose keys count up, or for a single button.
        var hasElements: Bool {
            !list.isEmpty || title.isCounted || identifier.isCounted || (fixedIdentifier != nil && !title.isEmpty)
        }
    }

    /// A path that is not read while all conditions hold.
    struct IgnoredField: Sendable {
        /// The path that is not read, with every path that leads through it.
        let under: CataloguePath
        /// At least one, tested once before the payload is read.
        let conditions: [CatalogueCondition]

        /// True if all conditions hold. Takes time as each of them does.
        func holds(in payload: borrowing PlatformPayload) -> Bool {
            for condition in conditions where !condition.holds(in: payload) { return false }
            return true
        }
    }

    /// Pictures to leaf through: the elements of a list, or parts whose keys count up. Paths lead from the element.
    /// Elements without a picture are left out.
    struct CarouselField: Sendable {
        /// `portrait` or `landscape`.
        var orientation: CataloguePaths = []
        /// The list or object; empty for pictures whose keys count up.
        var list: CataloguePaths = []
        /// The first number for `{i}`.
        var first = 0
        /// The picture of an element.
        var url: CataloguePaths = []
        /// The text below a picture.
        var caption: CataloguePaths = []
        /// A second text below a picture.
        var subcaption: CataloguePaths = []
        /// The link that a tap on a picture opens.
        var link: CataloguePaths = []

        /// There is no picture unless one of these paths has a value.
        var source: CataloguePaths { list.isEmpty ? url : list }

        /// True with a list, or with pictures whose keys count up.
        var hasElements: Bool { !list.isEmpty || url.isCounted }
    }

    /// The vendor's identification of the mailing.
    struct CampaignField: Sendable {
        /// The vendor's identifier of the mailing.
        var id: CataloguePaths = []
        /// The name that people gave the mailing.
        var name: CataloguePaths = []
        /// The vendor's word for the kind of mailing, unchanged.
        var type: CataloguePaths = []
        /// The variant of an A/B test.
        var variant: CataloguePaths = []
        /// The identifier of one push to one device.
        var messageId: CataloguePaths = []
        /// The identifier is a number, in several spellings.
        var isNumeric = false
    }
}

/// Conditional fields of an entry.
extension CatalogueFields {
    /// Removes the paths of values, media, and lists of buttons and pictures that lead through another path. Keeps
    /// counted paths of buttons and pictures, and conditions. Called on a copy, for all payloads with the same
    /// rules.
    mutating func ignore(_ path: CataloguePath) {
        for field in [
            \CatalogueFields.title, \.subtitle, \.body, \.sound, \.badge, \.threadId, \.interruptionLevel, \.channel,
            \.category, \.tag, \.vendorKind, \.tap.link, \.tap.webView, \.tap.richContent, \.tap.word, \.tap.arguments,
            \.campaign.id, \.campaign.name, \.campaign.type, \.campaign.variant, \.campaign.messageId, \.notBefore,
            \.notAfter, \.custom,
        ] { self[keyPath: field].remove(through: path) }
        for position in media.indices { media[position].url.remove(through: path) }
        for position in buttons.indices { buttons[position].list.remove(through: path) }
        for position in carousel.indices { carousel[position].list.remove(through: path) }
        // Without a list, a field would be read as one whose keys count up.
        buttons.removeAll { !$0.hasElements }
        carousel.removeAll { !$0.hasElements }
    }
}
