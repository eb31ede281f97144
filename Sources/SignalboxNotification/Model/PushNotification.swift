package import SignalboxJSON

/// A notification in vendor-neutral terms: what one payload says, whoever produced it and whichever service carries it.
///
/// Not `Notification`: that is Foundation's. Absent means unknown.
package struct PushNotification: Sendable, Equatable {
    package var vendor: VendorID = .unknown
    package var detection = DetectionSummary()
    package var platform: Platform
    package var kind: Kind = .alert
    /// The vendor's own word for the kind.
    package var vendorKind: String?
    package var campaign: Campaign?
    package var content = Content()
    /// What a tap on the notification itself does.
    package var action: Action?
    package var category: Category?
    package var media: [Media] = []
    package var carousel: Carousel?
    package var inApp: InApp?
    package var inline: Inline?
    package var liveActivity: LiveActivity? {
        get { activities.first }
        set { activities = newValue.map { [$0] } ?? [] }
    }
    // One or none. Few notifications have one, and an empty array is destroyed for nothing.
    private var activities: [LiveActivity] = []
    package var schedule: Schedule?
    package var target: Target?
    package var tag: String?
    /// An object with everything that no detector claimed.
    package var custom: JSONText?
    /// An object with what nobody read of the push service's own keys. Whoever makes ``custom`` takes it away and puts it
    /// in there: no event is written while there is one.
    package var platformRest: JSONText?
    /// Device tokens inside the vendor's data, in clear text. They are hashed before an event is written.
    package var deviceTokens: [DeviceToken] = []
    package var warnings: [Warning] = []

    /// When there are as many warnings, further ones are not noted.
    package static let mostWarnings = 100

    package init(platform: Platform) { self.platform = platform }

    package enum Kind: String, Sendable, CaseIterable {
        case alert, silent, banner
        case mandatoryUpgrade = "mandatory-upgrade"
        case walkthrough
        case inAppMessage = "in-app-message"
        case inline
        case liveActivity = "live-activity"
        /// A vendor's own housekeeping: uninstall tracking, geofence or feature-flag sync.
        case control
    }

    /// What the vendor calls the mailing; at least one field is set.
    package struct Campaign: Sendable, Equatable {
        package var id: String?
        package var name: String?
        package var type: String?
        package var variant: String?
        package var messageId: String?

        package init(
            id: String? = nil, name: String? = nil, type: String? = nil, variant: String? = nil,
            messageId: String? = nil
        ) {
            self.id = id
            self.name = name
            self.type = type
            self.variant = variant
            self.messageId = messageId
        }

        package var isEmpty: Bool {
            id == nil && name == nil && type == nil && variant == nil && messageId == nil
        }
    }

    package struct Content: Sendable, Equatable {
        package var title: String?
        package var subtitle: String?
        package var body: String?
        package var sound: String?
        package var badge: Int64?
        package var threadId: String?
        package var interruptionLevel: String?
        /// How high the system sorts it in a summary, 0 to 1; Live Activities may go beyond.
        package var relevanceScore: Double?
        // One or none: few notifications have any of these, and an empty array is destroyed for nothing.
        private var presentations: [Presentation] = []
        var presentation: Presentation? {
            get { presentations.first }
            set { presentations = newValue.map { [$0] } ?? [] }
        }
        package var localized = Localized()

        package init() {}
    }

    /// Keys into the app's own string tables, with their arguments.
    package struct Localized: Sendable, Equatable {
        package var titleKey: String?
        package var titleArgs: [String] = []
        package var subtitleKey: String?
        package var subtitleArgs: [String] = []
        package var bodyKey: String?
        package var bodyArgs: [String] = []

        package init() {}
        package var isEmpty: Bool {
            titleKey == nil && titleArgs.isEmpty && subtitleKey == nil && subtitleArgs.isEmpty && bodyKey == nil
                && bodyArgs.isEmpty
        }
    }

    /// Several pictures to leaf through.
    package struct Carousel: Sendable, Equatable {
        /// `portrait` or `landscape`.
        package var orientation: String?
        package var items: [Item]

        package init(orientation: String? = nil, items: [Item]) {
            self.orientation = orientation
            self.items = items
        }

        package struct Item: Sendable, Equatable {
            package var caption: String?
            package var subcaption: String?
            /// What a tap on this picture opens.
            package var url: String?
            /// Index of the picture in ``PushNotification/media``.
            package var media: Int?

            package init(caption: String? = nil, subcaption: String? = nil, url: String? = nil, media: Int? = nil) {
                self.caption = caption
                self.subcaption = subcaption
                self.url = url
                self.media = media
            }
        }
    }

    /// Content for a view of the app itself.
    package struct InApp: Sendable, Equatable {
        package var layout: String?
        /// Each page as the vendor wrote it.
        package var pages: [JSONText]

        package init(layout: String? = nil, pages: [JSONText]) {
            self.layout = layout
            self.pages = pages
        }
    }

    /// The label of a view inside a page of the app.
    package struct Inline: Sendable, Equatable {
        package var name: String?
        package var productId: String?
        package var sku: String?

        package init(name: String? = nil, productId: String? = nil, sku: String? = nil) {
            self.name = name
            self.productId = productId
            self.sku = sku
        }
    }

    /// What becomes of a Live Activity on the lock screen, and what it shows.
    package struct LiveActivity: Sendable, Equatable {
        /// `start`, `update` or `end`.
        package var event: String?
        /// RFC 3339, UTC, milliseconds, like all dates here.
        package var timestamp: String?
        package var staleDate: String?
        package var dismissalDate: String?
        /// An object in the app's own terms.
        package var contentState: JSONText?
        package var attributesType: String?
        /// An object in the app's own terms.
        package var attributes: JSONText?

        package init(
            event: String? = nil, timestamp: String? = nil, staleDate: String? = nil, dismissalDate: String? = nil,
            contentState: JSONText? = nil, attributesType: String? = nil, attributes: JSONText? = nil
        ) {
            self.event = event
            self.timestamp = timestamp
            self.staleDate = staleDate
            self.dismissalDate = dismissalDate
            self.contentState = contentState
            self.attributesType = attributesType
            self.attributes = attributes
        }
    }

    /// When the vendor wants it shown.
    package struct Schedule: Sendable, Equatable {
        package enum Mode: String, Sendable, CaseIterable {
            /// At once.
            case immediate
            /// When the vendor's SDK finds the user receptive.
            case optimal
        }

        package var mode: Mode?
        /// RFC 3339, UTC, milliseconds.
        package var notBefore: String?
        /// RFC 3339, UTC, milliseconds.
        package var notAfter: String?

        package init(mode: Mode? = nil, notBefore: String? = nil, notAfter: String? = nil) {
            self.mode = mode
            self.notBefore = notBefore
            self.notAfter = notAfter
        }
    }

    /// Whom it is for.
    package struct Target: Sendable, Equatable {
        /// `sha256:` and the hexadecimal keyed hash of the device token, never the token.
        package var token: String?
        package var topic: String?
        package var condition: String?

        package init(token: String? = nil, topic: String? = nil, condition: String? = nil) {
            self.token = token
            self.topic = topic
            self.condition = condition
        }
    }
}
