/// The text files of the sources that are part of the program. Each function returns the text of one file, which ends
/// with a zero byte and lasts as long as the process. No file has zero bytes of its own.
///
/// In C, because a Swift array literal of their bytes takes the compiler a minute, and C's `#embed` no time.

#ifndef SIGNALBOX_RESOURCES_H
#define SIGNALBOX_RESOURCES_H

// SignalboxNotification
const char *_Nonnull sb_catalogue_values_json(void);
const char *_Nonnull sb_catalogue_keys_json(void);
const char *_Nonnull sb_catalogue_more_keys_json(void);
const char *_Nonnull sb_catalogue_nested_json(void);
const char *_Nonnull sb_catalogue_more_nested_json(void);
const char *_Nonnull sb_catalogue_further_json(void);
const char *_Nonnull sb_detector_1_json(void);
const char *_Nonnull sb_warnings_json(void);

// SignalboxConfig
const char *_Nonnull sb_patterns_json(void);

// SignalboxRouting
const char *_Nonnull sb_whole_json(void);
const char *_Nonnull sb_least_json(void);

// SignalboxSQLite
const char *_Nonnull sb_migrations_1_sql(void);
const char *_Nonnull sb_migrations_2_sql(void);

// SignalboxPostgres
const char *_Nonnull sb_core_sql(void);
const char *_Nonnull sb_operators_sql(void);
const char *_Nonnull sb_media_sql(void);
const char *_Nonnull sb_inapp_sql(void);
const char *_Nonnull sb_copies_sql(void);

// SignalboxGateway
const char *_Nonnull sb_notification_1_json(void);
const char *_Nonnull sb_interaction_1_json(void);
const char *_Nonnull sb_message_1_json(void);
const char *_Nonnull sb_inapp_1_json(void);
const char *_Nonnull sb_push_1_json(void);

// SignalboxServer
const char *_Nonnull sb_index_html(void);
const char *_Nonnull sb_icon_svg(void);
const char *_Nonnull sb_style_css(void);
const char *_Nonnull sb_preview_css(void);
const char *_Nonnull sb_h_js(void);
const char *_Nonnull sb_text_js(void);
const char *_Nonnull sb_api_js(void);
const char *_Nonnull sb_ui_js(void);
const char *_Nonnull sb_app_js(void);
const char *_Nonnull sb_live_js(void);
const char *_Nonnull sb_events_js(void);
const char *_Nonnull sb_event_js(void);
const char *_Nonnull sb_preview_js(void);
const char *_Nonnull sb_origin_js(void);
const char *_Nonnull sb_deliveries_js(void);
const char *_Nonnull sb_destinations_js(void);
const char *_Nonnull sb_routes_js(void);
const char *_Nonnull sb_pattern_js(void);
const char *_Nonnull sb_lists_js(void);
const char *_Nonnull sb_settings_js(void);
const char *_Nonnull sb_problem_and_event_json(void);
const char *_Nonnull sb_senders_json(void);
const char *_Nonnull sb_inapp_requests_json(void);
const char *_Nonnull sb_inapp_answers_json(void);
const char *_Nonnull sb_events_json(void);
const char *_Nonnull sb_operations_json(void);
const char *_Nonnull sb_bulk_json(void);
const char *_Nonnull sb_captures_json(void);
const char *_Nonnull sb_inspection_json(void);
const char *_Nonnull sb_observation_json(void);
const char *_Nonnull sb_routes_json(void);
const char *_Nonnull sb_service_json(void);
const char *_Nonnull sb_webhooks_json(void);
const char *_Nonnull sb_components_json(void);
const char *_Nonnull sb_problems_json(void);

// SignalboxCommands
const char *_Nonnull sb_starter_json(void);
const char *_Nonnull sb_payloads_json(void);

#endif
