package import SignalboxJSON

/// A notification in vendor-neutral terms: the content of one payload, for every vendor and push service.
///
/// Not `Notification`: Foundation has a type of that name. An absent value is unknown.
package struct PushNotification: Sendable, Equatable {
    /// The vendor that the chain found, or that the config assigns to the source.
    package var vendor: VendorID = .unknown
    /// The evidence for the vendor, and the other vendors that match.
    package var detection = DetectionSummary()
    /// The push service that the payload is written for.
    package var platform: Platform
    /// As in ``PlatformPayload``.
    var isForAppleThroughFCM = false
    /// The push service of the devices that get the vendor's keys.
    var devices: Platform { isForAppleThroughFCM ? .apns : platform }
    /// `silent` shows nothing; `control` is for the vendor's SDK only.
    package var kind: Kind = .alert
    /// The vendor's own word for the kind.
    package var vendorKind: String?
    /// The mailing; nil if the payload identifies none.
    package var campaign: Campaign?
    /// The texts and signals; empty for a push that presents none.
    package var content = Content()
    /// The effect of a tap on the notification itself.
    package var action: Action?
    /// The buttons; nil if the payload neither defines nor names any.
    package var category: Category?
    /// Every image, audio and video file, in the order in which readers find them.
    package var media: [Media] = []
    /// Pictures to leaf through; each refers to an element of ``media``.
    package var carousel: Carousel?
    /// Content for the app's own views, of the kinds banner, walkthrough and in-app message.
    package var inApp: InApp?
    /// The label of an inline view, of the kind inline.
    package var inline: Inline?
    /// The change of a Live Activity, of the kind live activity.
    package var liveActivity: LiveActivity? {
        get { liveActivities.first }
        set { liveActivities = newValue.map { [$0] } ?? [] }
    }
    // One or none. Few notifications have one, and an empty array costs nothing to destroy.
    private var liveActivities: [LiveActivity] = []
    /// The period of the notification; nil if the vendor sets no limit.
    package var schedule: Schedule?
    /// The addressees, if the payload is a request that names them.
    package var target: Target?
    /// The parameters of the request to the push service; nil unless a provider endpoint received the payload.
    package var transport: Transport? {
        get { transports.first }
        set { transports = newValue.map { [$0] } ?? [] }
    }
    // One or none, like `liveActivities`.
    private var transports: [Transport] = []
    /// A later notification with the same tag replaces this one on the device.
    package var tag: String?
    /// A JSON object with the parts of the payload that no reader consumed.
    package var custom: JSONText?
    /// A JSON object with the unread part of the push service's own keys. The reader that fills ``custom`` moves it
    /// there, so that no event is written while it is set.
    var platformRest: JSONText?
    /// Whether readers fill ``messages`` and warn of unreadable ones. Set it before the payload is read: without it,
    /// the messages cost nothing.
    package var readsMessages = false
    /// In-app messages that the payload brings. Events do not contain them. Empty unless ``readsMessages`` is true.
    package var messages: [PushedMessage] = []
    /// Device tokens inside the vendor's data, in clear text. The gateway hashes them before it writes an event.
    package var deviceTokens: [DeviceToken] = []
    /// Mistakes of the payload, at most ``mostWarnings``; see ``warn(_:at:_:)``.
    package var warnings: [Warning] = []

    /// An empty notification of the kind alert.
    package init(platform: Platform) { self.platform = platform }

    /// The purpose of a push. Raw values are those of events.
    package enum Kind: String, Sendable, CaseIterable {
        /// `alert` shows a text, plays a sound or sets a badge. A banner covers the screen of the app.
        case alert, silent, banner
        /// A banner that the user cannot close.
        case mandatoryUpgrade = "mandatory-upgrade"
        /// Pages to leaf through before the user uses the app.
        case walkthrough
        /// A message that the vendor's SDK shows inside the app.
        case inAppMessage = "in-app-message"
        /// The label of a view inside a page of the app.
        case inline
        /// A change of a Live Activity, or of a live update on Android.
        case liveActivity = "live-activity"
        /// A vendor's own housekeeping: uninstall tracking, geofence or feature-flag sync.
        case control
    }

    /// The vendor's identification of the mailing.
    package struct Campaign: Sendable, Equatable {
        /// In the vendor's own words and numbers, as text. `messageId` identifies one push to one device.
        package var id, name, type, variant, messageId: String?

        /// The campaign; nil when no field is set.
        var ifSet: Campaign? {
            id == nil && name == nil && type == nil && variant == nil && messageId == nil ? nil : self
        }
    }

    /// The texts and signals that a device presents.
    package struct Content: Sendable, Equatable {
        /// The literal texts; nil if the payload has none.
        package var title, subtitle, body: String?
        /// The name of a sound; `default` for the system's.
        package var sound: String?
        /// The number on the app's icon; 0 removes it.
        package var badge: Int64?
        /// Apple's identifier of a group of notifications.
        package var threadId: String?
        /// `passive`, `active`, `time-sensitive` or `critical` (developer.apple.com, "Generating a remote
        /// notification").
        package var interruptionLevel: String?
        /// Sort order in a notification summary, 0 to 1; Live Activities may exceed it.
        package var relevanceScore: Double?
        // One or none, like `liveActivities`.
        private var presentations: [Presentation] = []
        /// Rarely set values in one property, so that a notification stays small.
        package var presentation: Presentation {
            get { presentations.first ?? Presentation() }
            set { presentations = newValue == Presentation() ? [] : [newValue] }
        }
        /// Texts that the app looks up itself; a key has precedence over the literal text.
        package var localized = Localized()

        /// True without any text or signal.
        var isEmpty: Bool {
            title == nil && subtitle == nil && body == nil && sound == nil && badge == nil && threadId == nil
                && interruptionLevel == nil && relevanceScore == nil && presentations.isEmpty && localized.isEmpty
        }
    }

    /// The place and the audience of a notification.
    package struct Presentation: Sendable, Equatable {
        /// The window or screen of the app that the notification refers to.
        package var targetContentId: String?
        /// The value by which a Focus decides whether to show the notification.
        package var filterCriteria: String?
        /// Android's notification channel.
        package var channelId: String?
    }

    /// Keys into the app's own string tables, with their arguments.
    package struct Localized: Sendable, Equatable {
        /// The keys of the strings; nil without a localised text.
        package var titleKey, subtitleKey, bodyKey: String?
        /// Replacements for the placeholders of the string, in order; empty without a key.
        package var titleArgs: [String] = []
        /// The arguments of ``subtitleKey``.
        package var subtitleArgs: [String] = []
        /// The arguments of ``bodyKey``.
        package var bodyArgs: [String] = []

        /// True without a key and without arguments.
        var isEmpty: Bool {
            titleKey == nil && titleArgs.isEmpty && subtitleKey == nil && subtitleArgs.isEmpty && bodyKey == nil
                && bodyArgs.isEmpty
        }
    }

    /// Several pictures to leaf through.
    package struct Carousel: Sendable, Equatable {
        /// `portrait` or `landscape`.
        package var orientation: String?
        /// In the order of the payload.
        package var items: [Item]

        /// One picture with its texts.
        package struct Item: Sendable, Equatable {
            /// The texts below the picture.
            package var caption, subcaption: String?
            /// The link that a tap on this picture opens.
            package var url: String?
            /// Index of the picture in ``PushNotification/media``.
            package var media: Int?
        }
    }

    /// Content for a view of the app itself.
    package struct InApp: Sendable, Equatable {
        /// The vendor's word for the layout of the first page.
        package var layout: String?
        /// Each page in the vendor's own JSON.
        package var pages: [JSONText]
    }

    /// The label of a view inside a page of the app.
    package struct Inline: Sendable, Equatable {
        /// The label's name, and the vendor's identifiers of a product and of its variant.
        package var name, productId, sku: String?
    }

    /// A change of a Live Activity on the lock screen. Dates are RFC 3339 in UTC with milliseconds.
    package struct LiveActivity: Sendable, Equatable {
        /// `start`, `update` or `end`.
        package var event: String?
        /// When the vendor made the change, when its content is out of date, and when the system removes the activity.
        package var timestamp, staleDate, dismissalDate: String?
        /// A JSON object in the app's own terms.
        package var contentState: JSONText?
        /// The name of the app's type of attributes.
        package var attributesType: String?
        /// A JSON object in the app's own terms.
        package var attributes: JSONText?
    }

    /// The period in which the vendor wants the notification shown. Dates are RFC 3339 in UTC with milliseconds.
    package struct Schedule: Sendable, Equatable {
        /// The time within the period at which the SDK shows the notification.
        package enum Mode: String, Sendable, CaseIterable {
            /// At once.
            case immediate
            /// When the vendor's SDK finds the user receptive.
            case optimal
        }

        /// Nil if the vendor does not say when within the period.
        package var mode: Mode?
        /// The bounds of the period; nil for an open end.
        package var notBefore, notAfter: String?

        /// Without arguments, a period without bounds.
        package init(mode: Mode? = nil, notBefore: String? = nil, notAfter: String? = nil) {
            (self.mode, self.notBefore, self.notAfter) = (mode, notBefore, notAfter)
        }
    }

    /// The addressees of the push request.
    package struct Target: Sendable, Equatable {
        /// `sha256:` and the hexadecimal keyed hash of the device token, never the token.
        package var token: String?
        /// FCM's topic without the prefix `/topics/`, or its condition over topics. For a request to APNs, `topic` is
        /// the app's topic.
        package var topic, condition: String?
        /// The identifier of the channel that a broadcast to APNs names.
        package var channel: String?

        /// `token`: the keyed hash, never the token itself.
        package init(token: String? = nil, topic: String? = nil, condition: String? = nil) {
            (self.token, self.topic, self.condition) = (token, topic, condition)
        }
    }

    /// The parameters of a request to a push service that are not part of the payload: the `apns-*` header fields.
    package struct Transport: Sendable, Equatable {
        /// The identifier of the request, as sent; made by the gateway if the sender had none.
        package var apnsId: String?
        /// 1, 5 or 10.
        package var priority: Int?
        /// The sender's word for the type of push, such as `alert` or `voip`.
        package var pushType: String?
        /// The device shows only the last notification with the same identifier.
        package var collapseId: String?
        /// Unix seconds; 0 requests one attempt.
        package var expiration: Int64?

        /// Without parameters.
        package init() {}
    }
}
